import type { DatabaseSync } from 'node:sqlite';

/** A backup reads for minutes, and this process stands still while it waits: better it tries again at the next commit. */
const maxLogWaitMs = 100;

/**
 * Takes the log into the file, and begins a new one. After a sync that failed, Linux can hold what
 * is not on the disk and yet count as written: the next sync of the log succeeds without it, and the
 * log would break off there, before commits that were acknowledged. See
 * https://wiki.postgresql.org/wiki/Fsync_Errors and https://www.sqlite.org/pragma.html#pragma_wal_checkpoint.
 *
 * @returns whether it was possible; others that read or write can be in the way.
 */
export function takeInLog(database: DatabaseSync, busyTimeoutMs: number): boolean {
  try {
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxLogWaitMs)}`);
    return Number(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']) === 0;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}

/**
 * The same for a log that was found, since nobody knows what went before. Where others are in the
 * way, they have the log's index, and nothing is read out of the log again.
 *
 * @returns whether the log is trusted.
 */
export function tryToTakeInLog(database: DatabaseSync, busyTimeoutMs: number): boolean {
  try {
    takeInLog(database, busyTimeoutMs);
    return true;
  } catch {
    // A full disk, say: plants can be listed.
    return false;
  }
}
