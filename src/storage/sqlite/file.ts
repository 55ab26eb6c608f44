import { closeSync, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { PlantStoreError } from '../../core/model/errors.ts';
import { isMountPoint } from '../../files/mount-point.ts';

const statOptions = { bigint: true, throwIfNoEntry: false } as const;

/**
 * Creates an empty file that only the owner can access. Never opens an existing file: closing it would release SQLite's
 * locks in this process (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(path).isFile()) throw unsupported(path, 'is not a file');
  }
}

/** SQLite appends `-wal` to the path after it has resolved symbolic links. */
export function walOf(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}-wal`;
}

export function hasWal(path: string): boolean {
  return (statSync(walOf(path), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Throws an error if the file is missing or empty, but its WAL exists. SQLite would delete this WAL. */
export function refuseOrphanedWal(path: string): void {
  // The WAL is checked first, because a process that creates the file writes to the file before it writes to the WAL.
  if (!hasWal(path) || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  const advice = `Move ${path} back. To start without these writes, move the write-ahead log away`;
  throw unsupported(walOf(path), `contains writes, but ${path} is missing. ${advice}`);
}

/** Throws an error if a file has another hard link. SQLite keeps a WAL for each name, and would lose commits. */
export function refuseSecondName(path: string): void {
  if (statSync(path).nlink <= 1) return;
  throw unsupported(path, 'has another name (a hard link): remove the other name');
}

/**
 * Throws an error if the file is mounted without its folder, for example into a container. Processes inside and outside
 * would have different WALs, and the container's WAL would be removed with the container.
 */
export function refuseMountPoint(path: string): void {
  if (!isMountPoint(path)) return;
  throw unsupported(path, 'is mounted without its folder, which must contain the write-ahead log: mount the folder');
}

/** Identifies a file. While a file is open, no other file can get the same identity. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function identifyFile(path: string): BigIntStats | undefined {
  return statSync(path, statOptions);
}

export function isSameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a?.ino === b?.ino && a?.dev === b?.dev;
}

/** The message does not say that the file was left as it is, because its WAL may have been checkpointed. */
export function damaged(path: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} is damaged.`, { cause });
}

export function unsupported(path: string, what: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `${path} ${what}. It was left as it is.`, { cause });
}
