import { resolve } from 'node:path';
import { requireFolderOf } from '../../files/folder.ts';
import { backUpDatabase } from '../../storage/sqlite/backup.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { readSetting, settings } from '../environment.ts';
import { runInterruptibly } from '../interruption.ts';
import { refuseRoot } from '../refuse-root.ts';
import { parseStorage, requireFile, addProblem } from '../storage.ts';

export const help = `Usage: plant-store backup [--storage sqlite:FILE] TARGET

Copies a snapshot of FILE to the new file TARGET. Servers may continue to write
to FILE. To restore the backup, stop the server and run plant-store restore.

Options:
  --storage sqlite:FILE   the file to copy (PLANT_STORE_STORAGE, else
                          DATABASE_URL; default sqlite:plants.db)
  -h, --help              show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, { storage: settings.storage }, 1);
  const [target] = positionals;
  if (!target) throw new UsageError('backup requires TARGET, the name of the new file.');
  const { file } = parseStorage(readSetting('storage', values.storage), ['sqlite']);
  const newFile = resolve(target);
  refuseRoot(file, newFile);
  requireFile(file);
  requireFolderOf(newFile, 'backup');
  return runInterruptibly(async (signal) => {
    await copyDatabase(file, newFile, signal);
    process.stderr.write(`Backed up ${file} to ${newFile}.\n`);
    return 0;
  });
}

/** Removes the incomplete copy if the signal is aborted. */
export async function copyDatabase(file: string, target: string, signal: AbortSignal): Promise<void> {
  try {
    await backUpDatabase(file, target, () => {
      signal.throwIfAborted();
    });
  } catch (error) {
    // An SQLite error does not name the file that it concerns.
    throw addProblem(`${file} cannot be copied to ${target}`, error);
  }
}
