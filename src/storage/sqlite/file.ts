import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PlantStoreError } from '../../model/errors.ts';

/**
 * Makes the folder and an empty file where there is none, both for their owner only; SQLite gives
 * its side files the same permissions.
 *
 * A file that is there is never opened here, not even to read it: closing it again would release
 * every lock that this process holds on it through SQLite (https://www.sqlite.org/howtocorrupt.html,
 * section 2.2), and another process could then delete a log that is in use.
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

/** SQLite syncs the folder that its files are in, but who knows that folder does not yet: each new one's parent. */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let folder = path; folder.length >= resolve(first).length; folder = dirname(folder)) syncFolder(dirname(folder));
}

/** Brings the names in a folder to the disk. */
export function syncFolder(path: string): void {
  // Windows opens no folders, and keeps names by itself.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Whether the file has fewer bytes than it should; while there is a log, it may well be behind. */
export function isCutShort(path: string, expectedBytes: number): boolean {
  return !hasLog(path) && statSync(path).size < expectedBytes;
}

/** Whether there is a write-ahead log whose content may be in no other place. */
export function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Tells a file from every other one, whatever its name is now. */
export function identifyFile(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

/** A PlantStoreError for a file that this package will not touch. */
export function unsupported(path: string, what: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} ${what}. It was left as it is.`, { cause });
}
