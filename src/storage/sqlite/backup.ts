import { randomUUID } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { openToRead } from './database.ts';
import { damaged, syncFolder } from './file.ts';

/** The number of database pages that are copied in each step. A database page is 4096 bytes long. */
const pagesPerStep = 256;

/** A partial copy that has not changed for this time, in milliseconds, belongs to a backup that was killed. */
const abandonedAfterMs = 3_600_000;

/**
 * Copies a snapshot of a plant store's SQLite file to a new file that only its owner can access. During the backup,
 * other processes can write to the original file without waiting. The copy is renamed to `target` only if it is not
 * damaged. Partial copies that earlier, killed backups to `target` left behind are removed.
 *
 * @param onStep is called after each step; if it throws an error, the backup stops and rejects with this error
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
  const partial = `${target}.${randomUUID()}.partial`;
  const database = openToRead(file, 5000);
  try {
    removeAbandoned(target);
    // This read transaction defines the snapshot. Without it, the backup would restart whenever another process writes.
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

function removeAbandoned(target: string): void {
  const folder = dirname(target);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(target)}.`) || !/\.[\da-f-]{36}\.partial(?:-journal)?$/.test(name)) continue;
    const path = join(folder, name);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (changedAt < Date.now() - abandonedAfterMs) rmSync(path, { force: true });
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
