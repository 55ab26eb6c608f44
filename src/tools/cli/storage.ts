import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import type { OwnedPlant, StorageAdapter } from '../../core/storage-adapter.ts';
import { MemoryStorage } from '../../storage/memory/memory-storage.ts';
import { damaged } from '../../storage/sqlite/file.ts';
import { hasResultCode } from '../../storage/sqlite/result-code.ts';
import { openToRead } from '../../storage/sqlite/database.ts';
import { Reader } from '../../storage/sqlite/reader.ts';
import { SqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { describePostgres, openPostgres } from './postgres.ts';

const postgresScheme = /^postgres(?:ql)?:\/\//;

/**
 * Parses `sqlite:FILE` or `sqlite:FILE?commitThread=true`, with an absolute path as the result. Returns `undefined` if
 * the setting has another form. A `?` is part of the file name unless a word or `WORD=VALUE` follows.
 *
 * @throws {UsageError} if FILE begins with `//`, or if a parameter is unknown or invalid.
 */
export function sqliteLocation({ text, source }: Setting): { file: string; commitThread: boolean } | undefined {
  const [, file, query] = /^sqlite:(.*?)(?:\?(\w+(?:=.*)?))?$/s.exec(text) ?? [];
  if (file === undefined || file === '' || file === ':memory:') return undefined;
  // Some programs take `sqlite:///FILE` for a path in the current folder, others for an absolute path.
  if (file.startsWith('//')) throw new UsageError(`${source} must be sqlite:FILE, without '//' before FILE.`);
  const [, commitThread] = /^commitThread=(true|false)$/.exec(query ?? 'commitThread=false') ?? [];
  if (commitThread !== undefined) return { file: resolve(file), commitThread: commitThread === 'true' };
  throw new UsageError(`${source} has parameters other than commitThread=true or commitThread=false.`);
}

/**
 * Opens the storage that a setting names. Creates a missing file and, if `createTable` is true, a missing table.
 *
 * @throws {UsageError} if the setting is invalid. The message does not contain it, because it may include a password.
 */
export async function openStorage(setting: Setting, createTable = true): Promise<StorageAdapter> {
  if (setting.text === 'memory') return new MemoryStorage();
  if (postgresScheme.test(setting.text)) return openPostgres(setting, createTable);
  const location = sqliteLocation(setting);
  if (location === undefined) throw unknownForm(setting, 'sqlite:FILE, postgres://… or memory');
  try {
    return new SqliteStorage(location.file, { commitThread: location.commitThread });
  } catch (error) {
    throw withFileName(location.file, error);
  }
}

/** Passes all plants of an existing storage to `work`. Does not change the storage. */
export async function withSource<T>(
  setting: Setting,
  work: (pages: AsyncIterable<OwnedPlant[]>) => Promise<T>,
): Promise<T> {
  const file = persistentFile(setting);
  if (file === undefined) return withOpen(setting, false, (storage) => work(storage.scan()));
  requireFile(file);
  let database: DatabaseSync | undefined;
  try {
    database = openToRead(file, 5000);
    return await work(scan(file, database));
  } catch (error) {
    throw withFileName(file, error);
  } finally {
    database?.close();
  }
}

async function* scan(file: string, database: DatabaseSync): AsyncGenerator<OwnedPlant[], void> {
  try {
    yield* new Reader(database).scan();
  } catch (error) {
    throw withFileName(file, error);
  }
}

/** Opens a persistent storage, creates it if it does not exist, and passes it to `work`. */
export async function withTarget<T>(setting: Setting, work: (storage: StorageAdapter) => Promise<T>): Promise<T> {
  const file = persistentFile(setting);
  try {
    return await withOpen(setting, true, work);
  } catch (error) {
    throw file === undefined ? error : withFileName(file, error);
  }
}

async function withOpen<T>(
  setting: Setting,
  createTable: boolean,
  work: (storage: StorageAdapter) => Promise<T>,
): Promise<T> {
  const storage = await openStorage(setting, createTable);
  try {
    // Opening a connection pool does not check the table.
    await storage.list('', { after: undefined, limit: 1 });
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** Returns the file of a setting, or `undefined` for PostgreSQL. */
function persistentFile(setting: Setting): string | undefined {
  // Streamed data becomes garbage immediately. If V8 enlarged the young generation of its heap, as it does by default,
  // the command would take 10% more time and use 50 MiB more memory.
  setFlagsFromString('--semi-space-growth-factor=1');
  if (postgresScheme.test(setting.text)) return undefined;
  const file = sqliteLocation(setting)?.file;
  if (file === undefined) throw unknownForm(setting, 'sqlite:FILE or postgres://…');
  return file;
}

function unknownForm({ source }: Setting, forms: string): UsageError {
  return new UsageError(`${source} must have the form ${forms}.`);
}

/** Describes where plants are stored, without a password. Call this function before the storage is opened. */
export function describeStorage(setting: Setting): string {
  const { text, source } = setting;
  const variable = source.startsWith('--') ? '' : ` (${source})`;
  const file = sqliteLocation(setting)?.file;
  if (file !== undefined) return `${existsSync(file) ? '' : 'the new file '}${file}${variable}`;
  return text === 'memory' ? `memory, until the server stops${variable}` : `${describePostgres(text)}${variable}`;
}

export function requireFile(file: string): void {
  if (!existsSync(file)) throw new Error(`There is no file ${file}. Check the path.`);
}

/** Returns an error that names the file and says what to do, or the same error if it is not from SQLite. */
export function withFileName(file: string, error: unknown): unknown {
  if (hasResultCode(error, 'cannotOpen')) {
    return new Error(`${file} cannot be opened: it and its folder must be readable and writable.`, { cause: error });
  }
  if (hasResultCode(error, 'ioError') || hasResultCode(error, 'full')) {
    const problem = 'the disk is full or failing. Free space, and try again.';
    return new Error(`${file} cannot be used: ${problem}`, { cause: error });
  }
  return hasResultCode(error, 'corrupt') || hasResultCode(error, 'notADatabase') ? damaged(file, error) : error;
}
