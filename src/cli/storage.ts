import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isError } from '../boundary/error-text.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';
import { hasFile } from '../files/file.ts';
import { MemoryStorage } from '../storage/memory/memory-storage.ts';
import { openToRead } from '../storage/sqlite/database.ts';
import { Reader } from '../storage/sqlite/reader.ts';
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import { UsageError } from './command-line.ts';
import type { Setting } from './command-line.ts';
import { openPostgres, parseConnectionString } from './postgres.ts';
import type { PostgresLocation } from './postgres.ts';

/** A parsed storage setting. `place` describes the storage, without a password. */
export type StorageLocation =
  | { readonly kind: 'memory'; readonly place: string }
  | { readonly kind: 'sqlite'; readonly place: string; readonly file: string; readonly commitThread: boolean }
  | PostgresLocation;

type Kind = StorageLocation['kind'];
type Located<K extends Kind> = Extract<StorageLocation, { kind: K }>;

const forms = {
  sqlite: 'sqlite:FILE[?commitThread=true]',
  postgres: 'postgres://USER:PASSWORD@HOST/DATABASE',
  memory: 'memory',
} as const satisfies Record<Kind, string>;

/** Error messages contain the setting only if it looks like a file name. Otherwise, it may include a password. */
export function parseStorage<K extends Kind>(setting: Setting, kinds: readonly K[]): Located<K> {
  const { value, source } = setting;
  const location = parse(setting);
  if (location !== undefined && kinds.some((kind) => kind === location.kind)) return location as Located<K>;
  const advice = /^[\w./-]+\.\w+$/.test(value) ? `: write sqlite:${value}` : '';
  throw new UsageError(`${source} must be ${kinds.map((kind) => forms[kind]).join(' or ')}${advice}.`);
}

function parse(setting: Setting): StorageLocation | undefined {
  const { value: text } = setting;
  if (text === 'memory') return { kind: 'memory', place: 'memory, until the server stops' };
  if (/^postgres(?:ql)?:\/\//.test(text)) return parseConnectionString(setting);
  // `sqlite:///FILE` is refused: some programs read it as a relative path, others as an absolute one.
  const match = /^sqlite:(?!\/\/|:memory:$)([^?]+)(?:\?commitThread=(true|false))?$/s.exec(text);
  if (match?.[1] === undefined) return undefined;
  const file = resolve(match[1]);
  const place = `${existsSync(file) ? '' : 'the new file '}${file}`;
  return { kind: 'sqlite', place, file, commitThread: match[2] === 'true' };
}

export function filesOf(...locations: StorageLocation[]): string[] {
  return locations.flatMap((location) => (location.kind === 'sqlite' ? location.file : []));
}

/**
 * Creates a missing SQLite file. If `createTable` is true, the first operation creates a missing PostgreSQL table.
 */
export async function openStorage(location: StorageLocation, createTable = true): Promise<StorageAdapter> {
  if (location.kind === 'memory') return new MemoryStorage();
  if (location.kind === 'postgres') return openPostgres(location, createTable);
  try {
    return new SqliteStorage(location.file, { commitThread: location.commitThread });
  } catch (error) {
    throw addProblem(`${location.place} cannot be used`, error);
  }
}

/** Passes all plants of an existing storage to `work`. Does not change the storage. */
export async function withSource<T>(
  location: Located<'sqlite' | 'postgres'>,
  work: (pages: AsyncIterable<OwnedPlant[]>) => Promise<T>,
): Promise<T> {
  if (location.kind === 'sqlite') return readChecked(() => readFile(location.file), work);
  const storage = openPostgres(location, false);
  try {
    return await readChecked(() => storage.scan(), work);
  } finally {
    await storage.close();
  }
}

/** Reads the first page in advance, because an unreadable source must be reported before `work` creates its target. */
async function readChecked<T>(
  scan: () => AsyncIterable<OwnedPlant[]>,
  work: (pages: AsyncIterable<OwnedPlant[]>) => Promise<T>,
): Promise<T> {
  const pages = scan()[Symbol.asyncIterator]();
  await pages.next();
  await pages.return?.();
  return work(scan());
}

async function* readFile(file: string): AsyncGenerator<OwnedPlant[], void, undefined> {
  requireFile(file);
  try {
    const database = openToRead(file);
    try {
      yield* new Reader(database).scan();
    } finally {
      database.close();
    }
  } catch (error) {
    throw addProblem(`${file} cannot be used`, error);
  }
}

/** Opens a file or table, passes its adapter to `work`, and closes the adapter. Creates a missing file or table. */
export async function withTarget<T>(
  location: Located<'sqlite' | 'postgres'>,
  work: (storage: StorageAdapter) => Promise<T>,
): Promise<T> {
  try {
    const storage = await openStorage(location);
    try {
      // Opening a connection pool does not check the table.
      await storage.list('any user', { after: undefined, limit: 1 });
      return await work(storage);
    } finally {
      await storage.close();
    }
  } catch (error) {
    throw addProblem(`${location.place} cannot be used`, error);
  }
}

export function requireFile(file: string): void {
  if (!hasFile(file)) throw new Error(`There is no file ${file}. Check the path.`);
}

/** Adds `problem`, which names the file, to the message of an SQLite error. Returns any other error unchanged. */
export function addProblem(problem: string, error: unknown): unknown {
  if (!isError(error) || !('errcode' in error)) return error;
  return new Error(`${problem}: ${error.message}.`, { cause: error });
}
