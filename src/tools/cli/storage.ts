import { existsSync, statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { MemoryStorage } from '../../storage/memory/memory-storage.ts';
import { countPlants } from '../../storage/sqlite/count.ts';
import { openExisting } from '../../storage/sqlite/database.ts';
import { identifyFile } from '../../storage/sqlite/file.ts';
import { SqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import { suggestion } from './closest-name.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openPostgres } from './postgres.ts';
import type { OpenOptions } from './postgres.ts';
import { namingFile, requireFile, sqliteLocation, withFileName } from './sqlite-file.ts';
import type { SqliteLocation } from './sqlite-file.ts';

/**
 * For the progress bar, plants are counted only in files up to this size, in bytes. Counting the plants in a larger
 * file would take too long.
 */
const maxCountedBytes = 4 * 2 ** 30;

/**
 * Opens the storage that a setting names: `memory`, `sqlite:FILE` or `postgres://…`.
 *
 * @throws {UsageError} if the setting has none of these forms, or a wrong parameter.
 */
export async function openStorage(
  setting: Setting,
  options: OpenOptions = { createIfMissing: true },
): Promise<StorageAdapter> {
  const { text, source } = setting;
  if (text === 'memory') return new MemoryStorage();
  if (/^postgres(?:ql)?:\/\//.test(text)) return openPostgres(setting, options);
  const location = sqliteLocation(setting);
  if (location !== undefined) return openFile(location, options);
  const message = `${source} must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${withoutSecrets(text)}'.`;
  throw new UsageError(message + suggestedStorage(text));
}

/**
 * Opens persistent storage, passes it to `work`, and closes it when the promise that `work` returns has settled. If
 * `createIfMissing` is true, creates the file or the table if it does not exist.
 *
 * @throws {UsageError} if the setting does not name persistent storage.
 * @throws {Error} if the file or the table does not exist and is not created.
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
  // enlarged it, the command would take 10% more time and use 50 MiB more memory.
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

/**
 * Returns a phrase that completes the sentence "Plants are stored …". The phrase never contains a password. Call this
 * function before the storage is opened: the phrase then says whether the file is new.
 */
export function storagePlace(setting: Setting): string {
  if (setting.text === 'memory') return 'in memory, until the server stops';
  const file = sqliteLocation(setting)?.file;
  if (file === undefined) return `in the PostgreSQL database of ${setting.source}`;
  return existsSync(file) ? `in ${file}` : `in the new file ${file}`;
}

/** Checks whether two settings name the same storage. Different links to one file count as the same storage. */
export function isSameStorage(a: Setting, b: Setting): boolean {
  return identity(a) === identity(b);
}

/**
 * Returns the number of stored plants for the progress bar. Returns `undefined` if standard error is not a terminal, if
 * the storage is not a file, or if counting would take too long.
 */
export function countToShow(setting: Setting): number | undefined {
  const file = sqliteLocation(setting)?.file;
  if (!process.stderr.isTTY || file === undefined || statSync(file).size > maxCountedBytes) return undefined;
  try {
    return countPlants(file);
  } catch (error) {
    throw withFileName(file, 'read', error);
  }
}

function openFile({ file, commitThread }: SqliteLocation, { createIfMissing }: OpenOptions): SqliteStorage {
  try {
    if (!createIfMissing) {
      requireFile(file);
      openExisting(file, 5000).close();
    }
    return new SqliteStorage(file, { commitThread });
  } catch (error) {
    throw withFileName(file, 'opened', error);
  }
}

function identity(setting: Setting): string {
  const file = sqliteLocation(setting)?.file;
  if (file === undefined) return setting.text;
  return existsSync(file) ? identifyFile(file) : file;
}

/**
 * Returns a sentence that suggests `memory` if the text is similar to it, or `sqlite:TEXT` if the text may be a file
 * name. Returns an empty string otherwise.
 */
function suggestedStorage(text: string): string {
  // A text with other characters may be part of a connection string that contains a password.
  const isFileName = /^[\w./\\~ -]+$/.test(text) && text !== 'sqlite' && text !== 'postgres';
  return suggestion(text, ['memory']) || (isFileName ? ` Did you mean 'sqlite:${text}'?` : '');
}

/** Removes possible passwords from an invalid connection string, both before the host and in the query. */
function withoutSecrets(text: string): string {
  return text.replace(/(:\/*)[^/].*@/s, '$1…@').replace(/\?.*/s, '?…');
}
