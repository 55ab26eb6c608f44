import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { requireFolderOf } from '../../files/folder.ts';
import { databaseFiles } from '../../storage/sqlite/file.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { readSetting, settings } from '../environment.ts';
import { runInterruptibly } from '../interruption.ts';
import { shellQuoted } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';
import { parseStorage, requireFile } from '../storage.ts';
import { copyDatabase } from './backup.ts';

export const help = `Usage: plant-store restore BACKUP [--storage sqlite:FILE]

Checks BACKUP, and copies it to the new file FILE. Stop all servers first. If
FILE exists, restore prints the command that moves it away.

Options:
  --storage sqlite:FILE   the new file (PLANT_STORE_STORAGE, else DATABASE_URL;
                          default sqlite:plants.db)
  -h, --help              show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, { storage: settings.storage }, 1);
  const [given] = positionals;
  if (!given) throw new UsageError('restore requires BACKUP, the name of a file.');
  const { file } = parseStorage(readSetting('storage', values.storage), ['sqlite']);
  const backup = resolve(given);
  refuseRoot(file, backup);
  requireFile(backup);
  requireFolderOf(file, 'database file');
  refuseToOverwrite(file);
  return runInterruptibly(async (signal) => {
    await copyDatabase(backup, file, signal);
    process.stderr.write(`Restored ${file}.\n`);
    return 0;
  });
}

function refuseToOverwrite(file: string): void {
  const existing = databaseFiles(file).filter((name) => lstatSync(name, { throwIfNoEntry: false }) !== undefined);
  if (existing.length === 0) return;
  const folder = shellQuoted(join(dirname(file), 'before-restore'));
  const move = `mkdir ${folder} && mv ${existing.map(shellQuoted).join(' ')} ${folder}`;
  throw new Error(`restore never overwrites a file. Stop the server, move the existing files, and try again:\n${move}`);
}
