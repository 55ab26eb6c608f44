import { resolve } from 'node:path';
import { backUpDatabase } from '../../storage/sqlite/backup.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import type { Command } from '../command.ts';
import { requireFile } from '../data-storage.ts';
import { Progress } from '../output/progress.ts';
import { storageSetting } from '../open-storage.ts';
import { sqliteLocation } from '../sqlite-location.ts';

const help = `Usage: plant-store backup [--storage sqlite:FILE] TARGET

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

/** The `plant-store backup` command. */
export const backup: Command = { help, run: runBackup };

async function runBackup(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, { storage: { type: 'string' } }, 1);
  const [target] = positionals;
  if (target === undefined || target === '') {
    throw new UsageError('backup requires TARGET, the name of the new file. See plant-store backup --help.');
  }
  const storage = storageSetting(values.storage);
  const file = sqliteLocation(storage)?.file;
  if (file === undefined) {
    throw new UsageError(`${storage.source} must be 'sqlite:FILE' for a backup. Back up PostgreSQL with pg_dump.`);
  }
  requireFile(file);

  const progress = new Progress({ unit: 'pages' });
  const pages = await backUpDatabase(file, resolve(target), ({ pages: done, totalPages }) => {
    progress.update(done, done / totalPages);
  });
  progress.finish('Backed up', pages);
  return 0;
}
