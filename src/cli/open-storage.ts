import { existsSync } from 'node:fs';
import { MemoryStorage } from '../storage/memory/memory-storage.ts';
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import { hasResultCode } from '../storage/sqlite/result-code.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { suggestion } from './closest-name.ts';
import { setting, UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openPostgres } from './open-postgres.ts';
import { sqliteLocation } from './sqlite-location.ts';
import type { SqliteLocation } from './sqlite-location.ts';

/**
 * Returns the storage setting. The value is the flag if it is given, otherwise `PLANT_STORE_STORAGE`, and otherwise
 * `DATABASE_URL`, which hosting platforms set for their databases.
 *
 * @throws {UsageError} if the flag is empty.
 */
export function storageSetting(flag: string | undefined): Setting {
  const named = setting('--storage', flag, 'PLANT_STORE_STORAGE', '');
  return named.text === '' ? setting('--storage', undefined, 'DATABASE_URL', 'sqlite:plants.db') : named;
}

/**
 * Opens the storage that `--storage` names: `memory`, `sqlite:FILE` or `postgres://…`.
 *
 * @throws {UsageError} if the setting has none of these forms, or a wrong parameter.
 */
export async function openStorage({ text: name, source }: Setting): Promise<StorageAdapter> {
  if (name === 'memory') return new MemoryStorage();
  if (/^postgres(?:ql)?:\/\//.test(name)) return openPostgres({ text: name, source });
  const location = sqliteLocation({ text: name, source });
  if (location === undefined) {
    const message = `${source} must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${withoutSecrets(name)}'.`;
    throw new UsageError(message + suggestedStorage(name));
  }
  return openFile(location);
}

/**
 * Returns a sentence that suggests `memory` if the name is similar to it, or `sqlite:NAME` if the name may be a file
 * name. Returns an empty string otherwise.
 */
function suggestedStorage(name: string): string {
  // A name with other characters may be part of a connection string that contains a password.
  const isFileName = /^[\w./\\~ -]+$/.test(name) && name !== 'sqlite' && name !== 'postgres';
  return suggestion(name, ['memory']) || (isFileName ? ` Did you mean 'sqlite:${name}'?` : '');
}

function openFile({ file, commitThread }: SqliteLocation): SqliteStorage {
  try {
    return new SqliteStorage(file, { commitThread });
  } catch (error) {
    // SQLite's messages do not name the file.
    if (hasResultCode(error, 'cannotOpen')) {
      throw new Error(`${file} cannot be opened: it and its folder must be readable and writable.`, { cause: error });
    }
    if (hasResultCode(error, 'ioError') || hasResultCode(error, 'full')) {
      throw new Error(`${file} cannot be opened: the disk is full or failing. Free space, and try again.`, {
        cause: error,
      });
    }
    throw error;
  }
}

/**
 * Returns a phrase that completes the sentence "Plants are stored …". The phrase never contains a password. Call this
 * function before the storage is opened: the phrase then says whether the file is new.
 */
export function storagePlace(storage: Setting): string {
  if (storage.text === 'memory') return 'in memory, until the server stops';
  const file = sqliteLocation(storage)?.file;
  if (file === undefined) return `in the PostgreSQL database of ${storage.source}`;
  return existsSync(file) ? `in ${file}` : `in the new file ${file}`;
}

/** Removes possible passwords from an invalid connection string, both before the host and in the query. */
function withoutSecrets(name: string): string {
  return name.replace(/(:\/*)[^/].*@/s, '$1…@').replace(/\?.*/s, '?…');
}
