import { randomUUID } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { isTaken, requireAccess, syncFolder } from '../../files/file.ts';
import { isSound, openToRead } from './database.ts';
import { damaged, databaseFiles } from './file.ts';

const pagesPerStep = 256;

/**
 * Copies a snapshot of a plant store's SQLite file to a new file that only its owner can access. A backup that is
 * killed leaves a file `TARGET.….partial`. `onStep` is called between two steps. If it throws an error, the backup
 * stops and rejects with this error.
 */
export async function backUpDatabase(file: string, target: string, onStep: () => void): Promise<void> {
  requireAccess([dirname(target)], 'write');
  refuseExisting(target);
  const partial = `${target}.${randomUUID()}.partial`;
  const database = openToRead(file);
  try {
    // Without this read transaction, the backup would restart whenever another process writes.
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM plants LIMIT 1').get();
    closeSync(openSync(partial, 'wx', 0o600));
    await backup(database, partial, { rate: pagesPerStep, progress: onStep });
    checkCopy(partial, file);
    refuseExisting(target);
    renameSync(partial, target);
    // The content is already on the disk. This makes the directory entry durable, too.
    syncFolder(dirname(target));
  } finally {
    database.close();
    for (const path of databaseFiles(partial)) rmSync(path, { force: true });
  }
}

function checkCopy(path: string, original: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    if (!isSound(database)) throw damaged(original);
  } finally {
    database.close();
  }
}

/** Also refuses an old WAL or journal beside the target, because SQLite would apply it to the backup. */
function refuseExisting(target: string): void {
  const existing = databaseFiles(target).find(isTaken);
  if (existing === undefined) return;
  throw new Error(`${existing} already exists. A backup never overwrites a file: choose another name.`);
}
