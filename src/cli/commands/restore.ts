import { dirname, join, resolve } from 'node:path';
import { isTaken, requireFolderOf } from '../../files/file.ts';
import { databaseFiles } from '../../storage/sqlite/file.ts';
import type { Settings } from '../command-line.ts';
import { runInterruptibly } from '../interruption.ts';
import { tell } from '../output/print.ts';
import { shellQuoted } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';
import { parseStorage, requireFile } from '../storage.ts';
import { copyDatabase } from './backup.ts';

export async function run({ storage }: Settings<'restore'>, given: string): Promise<number> {
  const { file } = parseStorage(storage, ['sqlite']);
  const backup = resolve(given);
  refuseRoot(file, backup);
  requireFile(backup);
  requireFolderOf(file, 'database file');
  refuseToOverwrite(file);
  return runInterruptibly(async (signal) => {
    await copyDatabase(backup, file, signal);
    tell(`Restored ${file}.`);
    return 0;
  });
}

function refuseToOverwrite(file: string): void {
  const existing = databaseFiles(file).filter(isTaken);
  if (existing.length === 0) return;
  const folder = shellQuoted(join(dirname(file), 'before-restore'));
  const move = `mkdir ${folder} && mv ${existing.map(shellQuoted).join(' ')} ${folder}`;
  throw new Error(`restore never overwrites a file. Stop the server, move the existing files, and try again:\n${move}`);
}
