import { closeSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup } from 'node:sqlite';
import { openExisting } from './database.ts';
import { syncFolder } from './file.ts';

/** How many pages of 4096 bytes are copied at once. */
const pagesPerStep = 256;

/** How far a backup is. */
export interface BackupStep {
  readonly pages: number;
  readonly totalPages: number;
}

/**
 * Copies a plant store's file, as it is at one moment, to a new file that only its owner can read.
 * Others can go on writing: the copy is made of a snapshot, for which nobody waits.
 *
 * @returns how many pages it has.
 * @throws {Error} where there is something at `target`, which stays as it is; PlantStoreError
 *   `storage_unsupported` where the file is no plant store.
 */
export async function backUpDatabase(file: string, target: string, onStep: (step: BackupStep) => void): Promise<number> {
  refuseExisting(target);
  const partial = `${target}.${process.pid}.partial`;
  const database = openExisting(file, 5000);
  try {
    // Without this every write of another process would make the backup begin anew.
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM plants LIMIT 1').get();
    closeSync(openSync(partial, 'wx', 0o600));
    const pages = await backup(database, partial, {
      rate: pagesPerStep,
      progress: ({ totalPages, remainingPages }) => { onStep({ pages: totalPages - remainingPages, totalPages }); },
    });
    refuseExisting(target);
    renameSync(partial, target);
    // Makes the new name as durable as the file.
    syncFolder(dirname(target));
    return pages;
  } finally {
    database.close();
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(partial + ending, { force: true });
  }
}

function refuseExisting(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new Error(`There is something at ${path} already: a backup overwrites nothing.`);
  }
}
