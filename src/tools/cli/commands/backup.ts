import { resolve } from 'node:path';
import { backUpDatabase } from '../../../storage/sqlite/backup.ts';
import { hasResultCode } from '../../../storage/sqlite/result-code.ts';
import { parseCommandLine, setting, UsageError } from '../command.ts';
import { settings } from '../environment.ts';
import { Progress } from '../output/progress.ts';
import { requireFile, sqliteLocation, withFileName } from '../storage.ts';

export const help = `Usage: plant-store backup [--storage sqlite:FILE] TARGET

Copies a snapshot of FILE to the new file TARGET. Servers may continue to write
to FILE. To restore the backup, stop the server, replace FILE with TARGET, and
remove FILE-wal and FILE-shm.

Options:
  --storage sqlite:FILE   the file to copy
                          (PLANT_STORE_STORAGE, else DATABASE_URL;
                          default sqlite:plants.db)
  -h, --help              show this help

An environment variable in parentheses sets the default of its option.
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('backup', args, { storage: settings.storage }, 1);
  const [target] = positionals;
  if (target === undefined || target === '') {
    throw new UsageError('backup requires TARGET, the name of the new file. See plant-store backup --help.');
  }
  const storage = setting('storage', values.storage);
  const file = sqliteLocation(storage)?.file;
  if (file === undefined) {
    throw new UsageError(`${storage.source} must be 'sqlite:FILE' for a backup. Back up PostgreSQL with pg_dump.`);
  }
  requireFile(file);

  const progress = new Progress('page');
  const newFile = resolve(target);
  const pages = await backUpDatabase(file, newFile, (copied) => {
    progress.update(copied);
  }).catch((error: unknown) => {
    throw asBackupError(error, file, newFile);
  });
  progress.finish('Backed up', pages);
  return 0;
}

/** Returns an error that names the file that caused it, or both files if either can be the cause. */
function asBackupError(error: unknown, file: string, target: string): unknown {
  if (hasResultCode(error, 'ioError')) {
    const sentence = `${file} cannot be copied to ${target}: a disk is full or failing. Free space, and try again.`;
    return new Error(sentence, { cause: error });
  }
  return hasResultCode(error, 'full') ? withFileName(target, 'written', error) : withFileName(file, 'read', error);
}
