import { closeSync, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PlantStoreError } from '../../core/model/errors.ts';
import { findOtherPlace, hasFile, isFileOrMissing, requireAccess, requireFolderOf } from '../../files/file.ts';

/**
 * Checks that a file and the files beside it can be written. Creates a missing file, which only its owner can access.
 * Refuses a file with another hard link and a mounted file: SQLite names the WAL after the path, so a process with
 * another path would use another WAL, and commits would be lost.
 */
export function prepareFile(path: string): void {
  requireFolderOf(path, 'database file');
  requireUsable(path, 'write');
  try {
    // Never opens an existing file: closing it would release SQLite's locks in this process
    // (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const otherPlace = findOtherPlace(path);
  if (otherPlace !== undefined) throw unsupported(path, otherPlace);
}

/**
 * Throws an error if this process may not use the file or one beside it, if one of them is not a regular file, or if
 * the file is missing or empty although its WAL contains writes.
 */
export function requireUsable(path: string, purpose: 'read' | 'write'): void {
  const realPath = hasFile(path) ? realpathSync(path) : path;
  const files = databaseFiles(realPath);
  requireAccess(purpose === 'write' ? [...files, dirname(realPath)] : files, purpose);
  const wrong = files.find((each) => !isFileOrMissing(each));
  if (wrong !== undefined) throw unsupported(wrong, 'is not a file: choose another path');
  // SQLite would delete the WAL of a missing or empty file. The WAL is checked before the file, because a process that
  // creates the file writes to the file before it writes to the WAL.
  if (!hasWal(path) || sizeOf(path) > 0) return;
  const advice = `Move ${path} back. To start without these writes, move the write-ahead log away`;
  throw unsupported(walFilesOf(path)[0], `contains writes, but ${path} is missing or empty. ${advice}`);
}

/** Returns the paths of a database file, and of the files that SQLite can create beside it. */
export function databaseFiles(path: string): string[] {
  return ['', '-wal', '-shm', '-journal'].map((ending) => path + ending);
}

/** Returns the paths of the WAL and of its index. SQLite resolves symbolic links before it appends the endings. */
export function walFilesOf(path: string): [wal: string, index: string] {
  const resolved = existsSync(path) ? realpathSync(path) : path;
  return [`${resolved}-wal`, `${resolved}-shm`];
}

export function hasWal(path: string): boolean {
  return sizeOf(walFilesOf(path)[0]) > 0;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns the identity of a file, if the file exists. While a file is open, no other file has the same identity. */
export function identify(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

/** The message does not say that the file is unchanged, because its WAL may have been checkpointed. */
export function damaged(path: string, cause?: unknown, detail = ''): PlantStoreError {
  const message = `${path} is damaged${detail}. Restore an intact backup.`;
  return new PlantStoreError('storage_unsupported', message, { cause });
}

export function unsupported(path: string, what: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} ${what}. Nothing was changed.`, { cause });
}
