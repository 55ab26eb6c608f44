import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A missing folder is not created, because it can mean a mistyped path or a disk that is not mounted. */
export function requireFolderOf(path: string, use: string): void {
  const folder = dirname(resolve(path));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new Error(`There is no folder ${folder} for the ${use}. Create the folder, or choose another file.`);
}

export function syncFolder(path: string): void {
  // On Windows, folders cannot be opened for fsync, but the file system itself makes directory entries durable.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
