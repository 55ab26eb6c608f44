import { existsSync } from 'node:fs';
import { MemoryStorage } from '../../storage/memory/memory-storage.ts';
import { openExisting } from '../../storage/sqlite/database.ts';
import { SqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import { suggestion } from './closest-name.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openPostgres } from './open-postgres.ts';
import type { OpenOptions } from './open-postgres.ts';
import { withFileName } from './sqlite-error.ts';
import { sqliteLocation } from './sqlite-location.ts';
import type { SqliteLocation } from './sqlite-location.ts';

/**
 * Opens the storage that `--storage` names: `memory`, `sqlite:FILE` or `postgres://…`.
 *
 * @throws {UsageError} if the setting has none of these forms, or a wrong parameter.
 */
export async function openStorage(
  { text: name, source }: Setting,
  options: OpenOptions = { createIfMissing: true },
): Promise<StorageAdapter> {
  if (name === 'memory') return new MemoryStorage();
  if (/^postgres(?:ql)?:\/\//.test(name)) return openPostgres({ text: name, source }, options);
  const location = sqliteLocation({ text: name, source });
  if (location === undefined) {
    const message = `${source} must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${withoutSecrets(name)}'.`;
    throw new UsageError(message + suggestedStorage(name));
  }
  return openFile(location, options);
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

/** Throws an error if a file does not exist. The file is not created, because this would hide a mistyped path. */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new Error(`There is no file ${file}. Check the path.`);
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
