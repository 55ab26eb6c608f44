import { resolve } from 'node:path';
import { requireFolderOf } from '../../files/file.ts';
import { backUpDatabase } from '../../storage/sqlite/backup.ts';
import type { Settings } from '../command-line.ts';
import { runInterruptibly } from '../interruption.ts';
import { Progress, tell } from '../output/print.ts';
import { refuseRoot } from '../refuse-root.ts';
import { parseStorage, requireFile, addProblem } from '../storage.ts';

export async function run({ storage }: Settings<'backup'>, target: string): Promise<number> {
  const { file } = parseStorage(storage, ['sqlite']);
  const newFile = resolve(target);
  refuseRoot(file, newFile);
  requireFile(file);
  requireFolderOf(newFile, 'backup');
  return runInterruptibly(async (signal) => {
    await copyDatabase(file, newFile, signal);
    tell(`Backed up ${file} to ${newFile}.`);
    return 0;
  });
}

/** Removes the incomplete copy if the signal is aborted. */
export async function copyDatabase(file: string, target: string, signal: AbortSignal): Promise<void> {
  const progress = new Progress('byte');
  try {
    await backUpDatabase(file, target, (bytes) => {
      signal.throwIfAborted();
      progress.show(bytes);
    });
  } catch (error) {
    // An SQLite error does not name the file that it concerns.
    throw addProblem(`${file} cannot be copied to ${target}`, error);
  }
}
