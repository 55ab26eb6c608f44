import { existsSync, statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { countPlants } from '../../storage/sqlite/count.ts';
import { identifyFile } from '../../storage/sqlite/file.ts';
import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openStorage } from './open-storage.ts';
import { namingFile, withFileName } from './sqlite-error.ts';
import { sqliteLocation } from './sqlite-location.ts';

/**
 * The maximum size of a file whose plants are counted for the progress bar, in bytes. Counting the plants in a larger
 * file would take too long.
 */
const maxCountedBytes = 4 * 2 ** 30;

/**
 * Opens a storage adapter, passes it to `work`, and closes it when the promise that `work` returns has settled. Creates
 * a missing file or table only if `createIfMissing` is true.
 *
 * @throws {UsageError} if the setting does not name persistent storage.
 * @throws {Error} if the file or the table is missing and is not created.
 */
export async function withStorage<T>(
  setting: Setting,
  createIfMissing: boolean,
  work: (storage: StorageAdapter) => Promise<T>,
): Promise<T> {
  if (setting.text === 'memory') {
    throw new UsageError(
      `${setting.source} must not be 'memory', which is empty before the command and gone after it. Name a file or a database.`,
    );
  }
  // Streamed data becomes garbage immediately, so a larger young generation of the V8 heap has no benefit. If V8
  // enlarged it, the command would take 10 % more time and 50 MiB more memory.
  setFlagsFromString('--semi-space-growth-factor=1');
  const file = sqliteLocation(setting)?.file;
  const opened = await openStorage(setting, { createIfMissing });
  const storage = file === undefined ? opened : namingFile(file, opened);
  try {
    // Opening a connection pool does not check the table. This read does, before anything else is opened or created.
    await storage.scan({ after: undefined, limit: 1 });
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** Checks whether two settings name the same storage. Different links to one file count as the same storage. */
export function isSameStorage(a: Setting, b: Setting): boolean {
  return identity(a) === identity(b);
}

function identity(storage: Setting): string {
  const file = sqliteLocation(storage)?.file;
  if (file === undefined) return storage.text;
  return existsSync(file) ? identifyFile(file) : file;
}

/**
 * Returns the number of stored plants for the progress bar. Returns `undefined` if standard error is not a terminal, if
 * the storage is not a file, or if counting would take too long.
 */
export function countToShow(storage: Setting): number | undefined {
  const file = sqliteLocation(storage)?.file;
  if (!process.stderr.isTTY || file === undefined || statSync(file).size > maxCountedBytes) return undefined;
  try {
    return countPlants(file);
  } catch (error) {
    throw withFileName(file, 'read', error);
  }
}
