import { resolve } from 'node:path';
import { backUpDatabase } from '../../../storage/sqlite/backup.ts';
import { requireFolderOf } from '../../../storage/sqlite/file.ts';
import { hasResultCode } from '../../../storage/sqlite/result-code.ts';
import { parseCommandLine, setting, UsageError } from '../command.ts';
import type { Setting } from '../command.ts';
import { settings } from '../environment.ts';
import { interruptible, InterruptedError } from '../interruption.ts';
import { requireFile, sqliteLocation, withFileName } from '../storage.ts';

export const help = `Usage: plant-store backup [--storage sqlite:FILE] TARGET

Copies a snapshot of FILE to the new file TARGET. Servers may continue to write
to FILE. To restore the backup, stop the server and run plant-store restore.

Options:
  --storage sqlite:FILE   the file to copy
                          (PLANT_STORE_STORAGE, else DATABASE_URL;
                          default sqlite:plants.db)
  -h, --help              show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('backup', args, { storage: settings.storage }, 1);
  const [target] = positionals;
  if (target === undefined || target === '') {
    throw new UsageError('backup requires TARGET, the name of the new file. See plant-store backup --help.');
  }
  const file = requireSqlite(setting('storage', values.storage));
  const newFile = resolve(target);
  requireFile(file);
  requireFolderOf(newFile, 'backup');
  return interruptible(async (signal) => {
    await copyDatabase(file, newFile, signal);
    process.stderr.write(`Backed up ${file} to ${newFile}.\n`);
    return 0;
  });
}

/** @throws {UsageError} if the setting does not name an SQLite file. */
export function requireSqlite(storage: Setting): string {
  const file = sqliteLocation(storage)?.file;
  if (file !== undefined) return file;
  throw new UsageError(`${storage.source} must be 'sqlite:FILE'. Back up and restore PostgreSQL with its own tools.`);
}

/** Copies a database file. Leaves no part of a copy behind if the signal is aborted. */
export async function copyDatabase(file: string, target: string, signal: AbortSignal): Promise<void> {
  try {
    await backUpDatabase(file, target, () => {
      if (signal.aborted) throw new InterruptedError('Interrupted: nothing was changed.');
    });
  } catch (error) {
    if (hasResultCode(error, 'ioError')) {
      const sentence = `${file} cannot be copied to ${target}: a disk is full or failing. Free space, and try again.`;
      throw new Error(sentence, { cause: error });
    }
    throw withFileName(hasResultCode(error, 'full') ? target : file, error);
  }
}
