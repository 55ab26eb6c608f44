import { resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { checkIntegerOption } from '../check-option.ts';
import { PlantStoreError } from '../errors.ts';
import { maxInt64, minInt64 } from '../int64.ts';
import type { StoredPlant } from '../plant.ts';
import { emptyPage, listAsJson } from './json-page.ts';
import { maxPageLength, maxPageText, ownedTextLength, textLength } from './page-bounds.ts';
import { inTransaction, openDatabase } from './sqlite-database.ts';
import { fromColumn, toColumn } from './sqlite-text.ts';
import type { JsonPage, ListRange, OwnedPlant, PlantKey, ScanRange, StorageAdapter, Write } from './storage-adapter.ts';

/** How a {@link SqliteStorage} works. */
export interface SqliteStorageOptions {
  /**
   * How long to wait for another process's lock, in milliseconds, 0 to 2147483647; default 5000.
   * This process stands still meanwhile.
   */
  busyTimeoutMs?: number;
}

/** How many rows one statement reads, so that a page of long names is not read far past its bound. */
const maxReadRows = 100;

/** A page with a plant of more bytes than this is made of objects, where its text can be bounded. */
const maxShortPlantBytes = Math.floor(maxPageText / maxPageLength);

/** `+ 0`, because node:sqlite compiles a statement with a bare `LIMIT ?` anew at every run (a fifth of a list's CPU). */
const selectPlants = 'SELECT id, name, tag FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT ? + 0';

const selectOwned = 'SELECT user, id, name, tag FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT ? + 0';

/** Less than every key, since no user is empty. */
const beforeAll: PlantKey = { user: '', id: minInt64 };

/** A page in one row: putting the JSON together here takes half the time of doing it in JavaScript. */
const selectPage = `
  SELECT count, last, shorts, json, count = ? AND EXISTS (SELECT 1 FROM plants WHERE user = ? AND id > last)
  FROM (
    SELECT count(*) AS count, max(id) AS last, count(short) AS shorts, '[' || group_concat(short) || ']' AS json
    FROM (
      SELECT id, CASE WHEN octet_length(name) + ifnull(octet_length(tag), 0) <= ${maxShortPlantBytes}
        THEN '{"name":"' || name || CASE WHEN tag IS NULL THEN '"}' ELSE '","tag":"' || tag || '"}' END END AS short
      FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT ? + 0
    )
  )`;

/**
 * Keeps plants in an SQLite file, through Node's own `node:sqlite`. A commit is on the disk when
 * its promise resolves (write-ahead log, `synchronous=FULL`). Several processes of one machine can
 * share a file; it must not be on a network file system.
 */
export class SqliteStorage implements StorageAdapter {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #selectPlants: StatementSync;
  readonly #selectOwned: StatementSync;
  readonly #selectPage: StatementSync;
  readonly #selectVersion: StatementSync;
  #isClosed = false;

  /**
   * Opens the file, or makes it, readable by its owner only.
   *
   * @throws {PlantStoreError} `storage_unsupported` where the file is not a plant store, is
   *   damaged, or comes from a newer version of this package; it is left as it is.
   */
  constructor(path: string, { busyTimeoutMs = 5000 }: SqliteStorageOptions = {}) {
    if (typeof path !== 'string' || path === '' || path === ':memory:') {
      throw new TypeError('path must name a file (for plants in memory use MemoryStorage)');
    }
    checkIntegerOption('busyTimeoutMs', busyTimeoutMs, 0, 2_147_483_647);
    this.#database = openDatabase(resolve(path), busyTimeoutMs);
    this.#insert = this.#database.prepare(
      'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#delete = this.#database.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
    this.#selectPlants = this.#prepareSelect(selectPlants);
    this.#selectOwned = this.#prepareSelect(selectOwned);
    this.#selectPage = this.#prepareSelect(selectPage);
    this.#selectVersion = this.#prepareSelect('PRAGMA data_version');
  }

  /** See {@link StorageAdapter}. */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    return inTransaction(this.#database, () => writes.map((write) => this.#apply(write)));
  }

  /** See {@link StorageAdapter}. */
  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    this.#refuseIfClosed();
    return readPage<StoredPlant>(limit, textLength, (last, count) => this.#read(user, last?.id ?? after, count));
  }

  /** See {@link StorageAdapter}. */
  async scan({ after = beforeAll, limit }: ScanRange): Promise<OwnedPlant[]> {
    this.#refuseIfClosed();
    return readPage<OwnedPlant>(limit, ownedTextLength, (last, count) =>
      this.#readOwned(last === undefined ? after : { user: last.user, id: last.plant.id }, count),
    );
  }

  /** See {@link StorageAdapter}. */
  async listJson(user: string, { after, limit }: ListRange): Promise<JsonPage> {
    this.#refuseIfClosed();
    const from = idAfter(after);
    if (from === undefined) return emptyPage;
    const row = this.#selectPage.get(limit, user, user, from, limit) as unknown as PageRow;
    const [count, last, shorts, json, hasMore] = row;
    if (last === null) return emptyPage;
    if (json === null || shorts < count) return listAsJson(this, user, { after, limit });
    return { json, count: Number(count), last, hasMore: hasMore === 1n };
  }

  /** See {@link StorageAdapter}; https://www.sqlite.org/pragma.html#pragma_data_version */
  dataVersion(): number {
    this.#refuseIfClosed();
    const [version] = this.#selectVersion.get() as unknown as [bigint];
    return Number(version);
  }

  /** See {@link StorageAdapter}. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#database.close();
  }

  #prepareSelect(sql: string): StatementSync {
    const statement = this.#database.prepare(sql);
    // Not as options of prepare(): Node 22 ignores them there.
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  }

  #read(user: string, after: bigint | undefined, limit: number): StoredPlant[] {
    const from = idAfter(after);
    if (from === undefined) return [];
    const rows = this.#selectPlants.all(user, from, limit) as unknown as [bigint, string, string | null][];
    return rows.map(([id, name, tag]) => toPlant(id, name, tag));
  }

  #readOwned({ user, id }: PlantKey, limit: number): OwnedPlant[] {
    const rows = this.#selectOwned.all(user, id, limit) as unknown as [string, bigint, string, string | null][];
    return rows.map(([owner, ...columns]) => ({ user: owner, plant: toPlant(...columns) }));
  }

  #apply(write: Write): boolean {
    if (write.kind === 'delete') return Number(this.#delete.run(write.user, write.id).changes) === 1;
    const { id, name, tag } = write.plant;
    const { changes } = this.#insert.run(write.user, id, toColumn(name), tag === undefined ? null : toColumn(tag));
    return Number(changes) === 1;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}

/** count, last, shorts, json, hasMore */
type PageRow = [bigint, bigint | null, bigint, string | null, bigint];

function toPlant(id: bigint, name: string, tag: string | null): StoredPlant {
  return tag === null ? { id, name: fromColumn(name) } : { id, name: fromColumn(name), tag: fromColumn(tag) };
}

/** Reads a page a few rows at a time; `last` is what it has so far read last. */
function readPage<Item>(limit: number, lengthOf: (item: Item) => number, read: (last: Item | undefined, count: number) => Item[]): Item[] {
  const page: Item[] = [];
  // Few at first, since each may be long.
  for (let text = 0, rows = 4; page.length < limit && text < maxPageText; rows = Math.min(rows * 2, maxReadRows)) {
    const count = Math.min(rows, limit - page.length);
    const items = read(page.at(-1), count);
    for (const item of items) {
      page.push(item);
      text += lengthOf(item);
      if (text >= maxPageText) break;
    }
    if (items.length < count) break;
  }
  return page;
}

/** The smallest id greater than `after`; `undefined` where there is none. */
function idAfter(after: bigint | undefined): bigint | undefined {
  if (after === undefined) return minInt64;
  return after === maxInt64 ? undefined : after + 1n;
}
