import { resolve } from 'node:path';
import { MemoryStorage } from '../storage/memory/memory-storage.ts';
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import { hasResultCode } from '../storage/sqlite/result-code.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { setting, UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openPostgres } from './open-postgres.ts';

/**
 * Returns the storage setting: the flag, or else `PLANT_STORE_STORAGE`, or else `DATABASE_URL`, which
 * hosting platforms set for their databases.
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
 * @throws {UsageError} if the setting has none of these forms.
 */
export async function openStorage({ text: name, source }: Setting): Promise<StorageAdapter> {
  if (name === 'memory') return new MemoryStorage();
  if (/^postgres(?:ql)?:\/\//.test(name)) return openPostgres({ text: name, source });
  const file = sqliteFile(name);
  if (file === undefined) {
    throw new UsageError(`${source} must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${withoutSecrets(name)}'.`);
  }
  return openFile(file);
}

/** Returns the absolute path of the file in a setting of the form `sqlite:FILE`, or `undefined` for other forms. */
export function sqliteFile(name: string): string | undefined {
  const file = /^sqlite:(.+)$/s.exec(name)?.[1];
  return file === undefined || file === ':memory:' ? undefined : resolve(file);
}

function openFile(file: string): SqliteStorage {
  try {
    return new SqliteStorage(file);
  } catch (error) {
    // SQLite's message does not name the file.
    if (!hasResultCode(error, 'cannotOpen')) throw error;
    throw new Error(`${file} cannot be opened: it and its folder must be readable and writable.`, { cause: error });
  }
}

/** Removes possible passwords from an invalid connection string, both before the host and in the query. */
function withoutSecrets(name: string): string {
  return name.replace(/(:\/*)[^/].*@/s, '$1…@').replace(/\?.*/s, '?…');
}
