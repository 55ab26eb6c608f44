import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PlantStoreError } from '../../model/errors.ts';

/**
 * Creates the folder and an empty file if they are missing, accessible only to their owner. SQLite creates its -wal and
 * -shm files with the same permissions.
 *
 * Never opens an existing file, not even for reading. Closing the file would release every lock that this process holds
 * on it through SQLite (https://www.sqlite.org/howtocorrupt.html, section 2.2), and another process could then delete a
 * WAL that is in use.
 */
export function createPrivateFile(path: string): void {
  makeFolder(dirname(resolve(path)));
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(path).isFile()) throw unsupported(path, 'is not a file');
  }
}

/** Creates missing folders and syncs the parent of each one. SQLite itself syncs only the folder of its files. */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let folder = path; folder.length >= resolve(first).length; folder = dirname(folder)) syncFolder(dirname(folder));
}

/** Syncs a folder, so that the file names in it are durable. */
export function syncFolder(path: string): void {
  // Windows cannot open a folder, and makes file names durable by itself.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Checks whether the file is shorter than it should be. With a WAL, a short file is normal. */
export function isCutShort(path: string, expectedBytes: number): boolean {
  return !hasLog(path) && statSync(path).size < expectedBytes;
}

/** Checks whether the file has a write-ahead log (WAL) that is not empty. The WAL's content may exist nowhere else. */
export function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Returns an identifier that is unique to the file and independent of its name. */
export function identifyFile(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** Returns a PlantStoreError for a file that this package refuses to use. */
export function unsupported(path: string, what: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} ${what}. It was left as it is.`, { cause });
}
