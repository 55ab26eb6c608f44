import type { DatabaseSync } from 'node:sqlite';

/**
 * The maximum wait for readers such as a backup, which can read for minutes. Waiting blocks the event loop, so the next
 * commit tries again instead.
 */
const maxReaderWaitMs = 100;

/**
 * Checkpoints the WAL into the database file and truncates the WAL. After a failed fsync, Linux may mark pages as clean
 * that are not on the disk. The next fsync of the WAL then succeeds without writing them. After a crash, the WAL would
 * end at the missing pages, and later commits would be lost although they were acknowledged. See
 * https://wiki.postgresql.org/wiki/Fsync_Errors and https://www.sqlite.org/pragma.html#pragma_wal_checkpoint.
 *
 * @returns whether the checkpoint was completed; other readers and writers can prevent it.
 */
export function checkpointLog(database: DatabaseSync, busyTimeoutMs: number): boolean {
  try {
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxReaderWaitMs)}`);
    return Number(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']) === 0;
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}

/**
 * Checkpoints a WAL that existed at startup, because its history is unknown: an fsync may have failed. If other
 * connections prevent the checkpoint, they also keep the WAL index, so SQLite does not rebuild the index from the WAL.
 *
 * @returns whether the WAL is trusted.
 */
export function tryToCheckpointLog(database: DatabaseSync, busyTimeoutMs: number): boolean {
  try {
    checkpointLog(database, busyTimeoutMs);
    return true;
  } catch {
    // The disk may be full, for example. Plants can still be listed.
    return false;
  }
}
