import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';
import { MemoryStorage } from '../storage/memory/memory-storage.ts';
import { openToRead } from '../storage/sqlite/database.ts';
import { Reader, SqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import type { Setting } from './command-line.ts';
import { addPlace, UsageError } from './errors.ts';
import { openPostgres, parseConnectionString } from './postgres.ts';
import type { PostgresLocation } from './postgres.ts';
import { requireSafePath } from './refuse-root.ts';

/** A parsed storage setting. `place` is the path of an SQLite file, or describes the storage without a password. */
export type StorageLocation =
  | { readonly kind: 'memory'; readonly place: string }
  | { readonly kind: 'sqlite'; readonly place: string; readonly commitThread: boolean }
  | PostgresLocation;

type Kind = StorageLocation['kind'];

const forms: Readonly<Record<Kind, string>> = {
  sqlite: 'sqlite:FILE[?commitThread=true]',
  postgres: 'postgres://USER:PASSWORD@HOST/DATABASE',
  memory: 'memory',
};

/** Error messages contain the value only if it looks like a file name. Any other value may contain a password. */
export function parseStorage(setting: Setting, kinds: readonly Kind[] = ['sqlite', 'postgres']): StorageLocation {
  const { value, source } = setting;
  const location = parse(setting);
  if (location !== undefined && kinds.includes(location.kind)) return location;
  const advice = /^[\w./-]+\.\w+$/.test(value) ? `: write sqlite:${value}` : '';
  throw new UsageError(`${source} must be ${kinds.map((kind) => forms[kind]).join(' or ')}${advice}.`);
}

function parse(setting: Setting): StorageLocation | undefined {
  const { value: text } = setting;
  if (text === 'memory') return { kind: 'memory', place: 'memory, until the server stops' };
  if (/^postgres(?:ql)?:\/\//.test(text)) return parseConnectionString(setting);
  // `sqlite:///FILE` is refused: some programs read it as a relative path, others as an absolute one.
  const [, file, thread] = /^sqlite:(?!\/\/|:memory:$)([^?]+)(?:\?commitThread=(true|false))?$/s.exec(text) ?? [];
  return file === undefined
    ? undefined
    : { kind: 'sqlite', place: requireSafePath(file), commitThread: thread === 'true' };
}

/** If `create` is true, creates a missing SQLite file, and the first operation creates a missing PostgreSQL table. */
export function openStorage(location: StorageLocation, create = true): StorageAdapter {
  if (location.kind === 'memory') return new MemoryStorage();
  if (location.kind === 'postgres') return openPostgres(location, create);
  if (!create) openToRead(location.place).close();
  return new SqliteStorage(location.place, { commitThread: location.commitThread });
}

/** Opens an existing storage, passes its plants to `work`, and closes it. Does not change the storage. */
export function withSource(
  location: StorageLocation,
  work: (pages: AsyncIterable<OwnedPlant[]>) => Promise<number>,
): Promise<number> {
  return withOpen(location, openSource, async (source) => {
    // Reads a page before `work` creates the target: an unreadable source must not lead to an empty target. Unlike a
    // list, a scan can read a standby.
    const pages = source.scan()[Symbol.asyncIterator]();
    await pages.next();
    await pages.return?.();
    return work(source.scan());
  });
}

/** Opens or creates a file or table, passes it to `work`, and closes it. */
export function withTarget(
  location: StorageLocation,
  work: (storage: StorageAdapter) => Promise<number>,
): Promise<number> {
  return withOpen(location, openStorage, async (storage) => {
    // The first operation creates a missing table.
    await storage.list('any user', { after: undefined, limit: 1 });
    return work(storage);
  });
}

type Source = Pick<StorageAdapter, 'scan' | 'close'>;

function openSource(location: StorageLocation): Source {
  if (location.kind !== 'sqlite') return openStorage(location, false);
  const database = openToRead(location.place);
  return {
    scan: () => new Reader(database).scan(),
    close: async () => {
      database.close();
    },
  };
}

async function withOpen<S extends Source>(
  location: StorageLocation,
  open: (location: StorageLocation) => S,
  work: (storage: S) => Promise<number>,
): Promise<number> {
  try {
    const storage = open(location);
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  } catch (error) {
    throw addPlace(location.place, error);
  }
}
