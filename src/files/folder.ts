import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A missing folder is not created, because it can mean a mistyped path or a disk that is not mounted. */
export function requireFolderOf(path: string, use: string): void {
  const folder = dirname(resolve(path));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new Error(`There is no folder ${folder} for the ${use}. Create the folder, or choose another file.`);
}

/** Makes the entries of a folder durable, if the file system supports this. */
export function syncFolder(path: string): void {
  // On Windows, folders cannot be opened for fsync, but the file system itself makes directory entries durable.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    // CIFS and shared folders of virtual machines do not support fsync for folders.
    if (!unsupported.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(folder);
  }
}

const unsupported = ['EINVAL', 'ENOTSUP', 'ENOSYS', 'EBADF'];
