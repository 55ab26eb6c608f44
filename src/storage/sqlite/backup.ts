import { closeSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup } from 'node:sqlite';
import { openExisting } from './database.ts';
import { syncFolder } from './file.ts';

/** How many pages of 4096 bytes are copied per step. */
const pagesPerStep = 256;

/** The progress of a backup. */
export interface BackupStep {
  readonly pages: number;
  readonly totalPages: number;
}

/**
 * Copies a snapshot of a plant store's file to a new file that only its owner can read. Other processes can write to
 * the original file in the meantime and never wait for the backup.
 *
 * @returns the number of pages.
 * @throws {Error} if `target` already exists (it is left unchanged); PlantStoreError `storage_unsupported` if `file` is
 *   not a plant store.
 */
export async function backUpDatabase(
  file: string,
  target: string,
  onStep: (step: BackupStep) => void,
): Promise<number> {
  refuseExisting(target);
  const partial = `${target}.${process.pid}.partial`;
  const database = openExisting(file, 5000);
  try {
    // Without this transaction, every write of another process would restart the backup.
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM plants LIMIT 1').get();
    closeSync(openSync(partial, 'wx', 0o600));
    const pages = await backup(database, partial, {
      rate: pagesPerStep,
      progress: ({ totalPages, remainingPages }) => {
        onStep({ pages: totalPages - remainingPages, totalPages });
      },
    });
    refuseExisting(target);
    renameSync(partial, target);
    // Makes the new name as durable as the content.
    syncFolder(dirname(target));
    return pages;
  } finally {
    database.close();
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(partial + ending, { force: true });
  }
}

function refuseExisting(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new Error(`There is something at ${path} already: a backup never overwrites a file.`);
  }
}
