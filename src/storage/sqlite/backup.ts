import { closeSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { openExisting } from './database.ts';
import { damaged, syncFolder } from './file.ts';

/** The number of database pages that are copied in each step of a backup. A database page is 4096 bytes long. */
const pagesPerStep = 256;

/**
 * Copies a snapshot of a plant store's SQLite file to a new file that only its owner can access. During the backup,
 * other processes can write to the original file without waiting. The copy is renamed to `target` only if it is not
 * damaged.
 *
 * @returns the number of pages that were copied.
 * @throws {Error} if `target` already exists; the existing file is not changed.
 * @throws {PlantStoreError} `storage_unsupported` if `file` is not a plant store or is damaged.
 */
export async function backUpDatabase(
  file: string,
  target: string,
  onStep: (copiedPages: number) => void,
): Promise<number> {
  throwIfExists(target);
  const partial = `${target}.${process.pid}.partial`;
  const database = openExisting(file, 5000);
  try {
    copyLog(database);
    // This read transaction defines the snapshot. Without this transaction, the backup would restart whenever another
    // process writes.
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM plants LIMIT 1').get();
    closeSync(openSync(partial, 'wx', 0o600));
    const pages = await backup(database, partial, {
      rate: pagesPerStep,
      progress: ({ totalPages, remainingPages }) => {
        onStep(totalPages - remainingPages);
      },
    });
    if (!isSound(partial)) throw damaged(file);
    throwIfExists(target);
    renameSync(partial, target);
    // The new file's content is already on the disk. Syncing the folder makes the file's directory entry durable, too.
    syncFolder(dirname(target));
    return pages;
  } finally {
    database.close();
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(partial + ending, { force: true });
  }
}

/**
 * Copies the write-ahead log (WAL) to the database file, as far as this is possible without waiting. If the whole WAL
 * is copied, the backup does not read the WAL. A server that starts during the backup can then discard a WAL that was
 * left by a crash: see `checkpointLog`.
 */
function copyLog(database: DatabaseSync): void {
  try {
    // See `configure` in database.ts.
    database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // If the checkpoint fails, for example because the disk is full, the backup reads the WAL.
  }
}

/** Checks a file with `quick_check`: https://www.sqlite.org/pragma.html#pragma_quick_check */
function isSound(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
  } finally {
    database.close();
  }
}

function throwIfExists(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new Error(`${path} already exists. A backup never overwrites a file: choose another name.`);
  }
}
