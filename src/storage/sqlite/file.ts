import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { PlantStoreError } from '../../core/model/errors.ts';

/**
 * Creates the file if it does not exist. A new file is empty, and only the owner can access it. SQLite gives the `-wal`
 * and `-shm` files the same permissions as the database file.
 *
 * Never opens an existing file, not even for reading, because closing the file would release every lock that SQLite
 * holds on the file in this process (https://www.sqlite.org/howtocorrupt.html, section 2.2). Without these locks,
 * another process could delete a WAL that is in use.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(path).isFile()) throw unsupported(path, 'is not a file');
  }
}

/**
 * Checks that the folder of a file exists. `use` describes the file in the error message.
 *
 * @throws {Error} if the folder does not exist. The folder is not created, because this would hide a mistyped path or a
 *   disk that is not mounted.
 */
export function requireFolderOf(path: string, use: string): void {
  const folder = dirname(resolve(path));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new Error(`There is no folder ${folder} for the ${use}. Create the folder, or choose another file.`);
}

/** Syncs a folder to the disk, so that its directory entries are durable. */
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

/**
 * Checks whether the file is shorter than its header states. Always returns `false` for a file with a WAL, because the
 * missing pages might be in the WAL.
 */
export function isCutShort(path: string, expectedBytes: number): boolean {
  return !hasLog(path) && statSync(path).size < expectedBytes;
}

/**
 * Checks whether the file has a non-empty write-ahead log (WAL), which can contain commits that have not been copied to
 * the file.
 */
export function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Throws an error if the file is missing or empty, but its WAL exists. SQLite would delete this WAL when it creates the
 * file, although the WAL can contain acknowledged commits.
 */
export function refuseOrphanedLog(path: string): void {
  // The WAL is checked first, because a process that creates the file writes to the file before it writes to the WAL.
  if (!hasLog(path) || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const advice = `Move ${path} back. To start without these writes, move the log away`;
  throw unsupported(`${path}-wal`, `contains writes, but ${path} is missing. ${advice}`);
}

/**
 * Returns an identifier that consists of the file's device and inode numbers. If another file replaces the file, the
 * identifier changes.
 */
export function identifyFile(path: string): string {
  return identityOf(statSync(path, { bigint: true }));
}

/**
 * Checks whether the file at the path exists and has the given identity. While a file is open, no other file can get
 * the same identity, because the file system does not reuse the inode number. On Windows, a file that SQLite has opened
 * cannot be removed or replaced.
 */
export function isSameFile(path: string, identity: string): boolean {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats !== undefined && identityOf(stats) === identity;
}

/** Returns the error for a file that was removed or replaced while it was open. */
export function lostFile(path: string): Error {
  return new Error(
    `The database file ${path} was removed or replaced while it was open. Its plants can be read until this process ` +
      'stops: save them, then restore the file from a backup and restart.',
  );
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * Returns the error for a damaged file. The message does not say that the file was left as it is, because the WAL may
 * have been checkpointed before the damage was found.
 */
export function damaged(path: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} is damaged.`, { cause });
}

/** Returns the error for a file that was refused when it was opened, before anything was written to it. */
export function unsupported(path: string, what: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} ${what}. It was left as it is.`, { cause });
}
