import { existsSync } from 'node:fs';
import { isError } from '../boundary/error-text.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';
import { MemoryStorage } from '../storage/memory/memory-storage.ts';
import { openToRead } from '../storage/sqlite/database.ts';
import { Reader, SqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import { UsageError } from './command-line.ts';
import type { Setting } from './command-line.ts';
import { openPostgres, parseConnectionString } from './postgres.ts';
import type { PostgresLocation } from './postgres.ts';
import { requireSafePath } from './refuse-root.ts';

/** A parsed storage setting. `place` describes the storage, without a password. */
export type StorageLocation =
  | { readonly kind: 'memory'; readonly place: string }
  | { readonly kind: 'sqlite'; readonly place: string; readonly file: string; readonly commitThread: boolean }
  | PostgresLocation;

type Kind = StorageLocation['kind'];
type Located<K extends Kind> = Extract<StorageLocation, { kind: K }>;
type StoredLocation = Located<'sqlite' | 'postgres'>;

const forms = {
  sqlite: 'sqlite:FILE[?commitThread=true]',
  postgres: 'postgres://USER:PASSWORD@HOST/DATABASE',
  memory: 'memory',
} as const satisfies Record<Kind, string>;

/** Error messages contain the value only if it looks like a file name. Any other value may contain a password. */
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
  const file = requireSafePath(match[1]);
  const place = `${existsSync(file) ? '' : 'the new file '}${file}`;
  return { kind: 'sqlite', place, file, commitThread: match[2] === 'true' };
}

/** If `create` is true, creates a missing SQLite file, and the first operation creates a missing PostgreSQL table. */
export async function openStorage(location: StorageLocation, create = true): Promise<StorageAdapter> {
  if (location.kind === 'memory') return new MemoryStorage();
  if (location.kind === 'postgres') return openPostgres(location, create);
  if (!create) openToRead(location.file).close();
  return new SqliteStorage(location.file, { commitThread: location.commitThread });
}

/** Opens an existing storage, passes its plants to `work`, and closes it. Does not change the storage. */
export function withSource<T>(
  location: StoredLocation,
  work: (pages: AsyncIterable<OwnedPlant[]>) => Promise<T>,
): Promise<T> {
  return withOpen(location, openSource, async (source) => {
    // An unreadable source must not lead to an empty target. Unlike a list, a scan can read a standby.
    const pages = source.scan()[Symbol.asyncIterator]();
    await pages.next();
    await pages.return?.();
    return work(source.scan());
  });
}

/** Opens or creates a file or table, passes it to `work`, and closes it. */
export function withTarget<T>(location: StoredLocation, work: (storage: StorageAdapter) => Promise<T>): Promise<T> {
  return withOpen(location, openStorage, async (storage) => {
    // The first operation creates a missing table.
    await storage.list('any user', { after: undefined, limit: 1 });
    return work(storage);
  });
}

async function openSource(location: StoredLocation): Promise<Pick<StorageAdapter, 'scan' | 'close'>> {
  if (location.kind === 'postgres') return openPostgres(location, false);
  const database = openToRead(location.file);
  return {
    scan: () => new Reader(database).scan(),
    close: async () => {
      database.close();
    },
  };
}

async function withOpen<S extends Pick<StorageAdapter, 'close'>, T>(
  location: StoredLocation,
  open: (location: StoredLocation) => Promise<S>,
  work: (storage: S) => Promise<T>,
): Promise<T> {
  try {
    const storage = await open(location);
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  } catch (error) {
    throw addPlace(location, error);
  }
}

/** Adds the place to an SQLite error, whose message does not name the file. Returns any other error unchanged. */
export function addPlace({ place }: Pick<StorageLocation, 'place'>, error: unknown): unknown {
  if (!isError(error) || !('errcode' in error)) return error;
  return new Error(`${place} cannot be used: ${error.message}.`, { cause: error });
}
