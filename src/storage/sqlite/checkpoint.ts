import type { DatabaseSync } from 'node:sqlite';

/**
 * The maximum time that a checkpoint waits for readers, in milliseconds. The wait blocks the event loop, and a reader
 * such as a backup can take minutes. If a checkpoint after a fault does not complete within this time, the next commit
 * retries the checkpoint.
 */
const maxReaderWaitMs = 100;

/**
 * Checkpoints the write-ahead log (WAL): copies its content to the database file and truncates the WAL.
 *
 * A checkpoint is necessary after a failed fsync, because Linux can mark pages of the WAL as clean although they are
 * not on the disk. The next fsync then succeeds without writing the pages that are marked as clean. After a power
 * failure, the WAL would end at the missing pages. All commits after the missing pages would be lost, although they
 * were acknowledged. See https://wiki.postgresql.org/wiki/Fsync_Errors and
 * https://www.sqlite.org/pragma.html#pragma_wal_checkpoint.
 *
 * @returns whether the checkpoint completed. Readers and writers on other connections can prevent the checkpoint from
 *   completing.
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
 * Checkpoints a WAL that existed before the file was opened, because an fsync of this WAL might have failed in an
 * earlier process.
 *
 * If other connections prevent the checkpoint, the WAL can still be used. If another connection was opened before the
 * failed fsync, SQLite does not rebuild the WAL index from the WAL, so the failed commit stays invisible. A connection
 * that was opened after the failed fsync checkpointed the WAL before it read plants (see also `copyLog` in backup.ts).
 * Other programs do not checkpoint the WAL, so they must not be the first to read the file after a crash.
 *
 * @returns `true` if the WAL can be used for commits; `false` if the checkpoint failed with an error.
 */
export function tryToCheckpointLog(database: DatabaseSync, busyTimeoutMs: number): boolean {
  try {
    checkpointLog(database, busyTimeoutMs);
    return true;
  } catch {
    // If the checkpoint fails, for example because the disk is full, plants can still be listed.
    return false;
  }
}
