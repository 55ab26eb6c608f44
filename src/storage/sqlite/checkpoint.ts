import type { DatabaseSync } from 'node:sqlite';

/** A backup reads for minutes, and waiting for it blocks the event loop, so the next commit tries again instead. */
const maxLogWaitMs = 100;

/**
 * Checkpoints the WAL into the database file and truncates the WAL. After a failed fsync, Linux may mark pages clean
 * that are not on the disk. The next fsync of the WAL then succeeds without them, and after a crash the WAL would end
 * there, before commits that were acknowledged. See https://wiki.postgresql.org/wiki/Fsync_Errors and
 * https://www.sqlite.org/pragma.html#pragma_wal_checkpoint.
 *
 * @returns whether the checkpoint completed; other readers and writers can prevent it.
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
 * Checkpoints a WAL that existed at startup, because its history is unknown. If other connections prevent this, they
 * hold the WAL index, and SQLite does not rebuild it from the WAL.
 *
 * @returns whether the WAL is trusted.
 */
export function tryToTakeInLog(database: DatabaseSync, busyTimeoutMs: number): boolean {
  try {
    takeInLog(database, busyTimeoutMs);
    return true;
  } catch {
    // The disk may be full, for example. Plants can still be listed.
    return false;
  }
}
