import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkIntegerOption, checkOptionNames } from '../check-option.ts';
import { PlantStoreError } from '../errors.ts';
import { maxInt64, minInt64 } from '../int64.ts';
import type { StoredPlant } from '../plant.ts';
import { emptyPage, listAsJson } from './json-page.ts';
import { maxPageText, ownedTextLength, textLength } from './page-bounds.ts';
import { maxStandstillMs, SqliteConnection } from './sqlite-connection.ts';
import { inTransaction, openDatabase, reopenDatabase } from './sqlite-database.ts';
import { identifyFile } from './sqlite-file.ts';
import { takeInLog } from './sqlite-log.ts';
import { hasResultCode, isFault } from './sqlite-result-code.ts';
import { fromColumn, toColumn } from './sqlite-text.ts';
import type { JsonPage, ListRange, OwnedPlant, PlantKey, ScanRange, StorageAdapter, Write } from './storage-adapter.ts';

/** How a {@link SqliteStorage} works. */
export interface SqliteStorageOptions {
  /**
   * How long a commit waits for another process's lock, in milliseconds, 0 to 2147483647; default
   * 5000. This process stands still for 100 of them at a time, and goes on with other work between.
   */
  busyTimeoutMs?: number;
}

/** Until a commit that found the file locked tries again. */
const retryAfterMs = 10;

/** How many rows one statement reads, so that a page of long names is not read far past its bound. */
const maxReadRows = 100;

/** Less than every key, since no user is empty. */
const beforeAll: PlantKey = { user: '', id: minInt64 };

/**
 * Keeps plants in an SQLite file, through Node's own `node:sqlite`. A commit is on the disk when
 * its promise resolves (write-ahead log, `synchronous=FULL`). After a commit for which the disk
 * failed, the file is opened again before the next one; reading goes on. Several processes of one
 * machine can share a file; it must not be on a network file system.
 */
export class SqliteStorage implements StorageAdapter {
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  readonly #identity: string;
  #connection: SqliteConnection;
  /** Whether a commit failed in a way after which the connection must not take another one. */
  #isSuspect: boolean;
  /** How often the file was opened again. */
  #reopened = 0;
  #isClosed = false;

  /**
   * Opens the file, or makes it, readable by its owner only.
   *
   * @throws {PlantStoreError} `storage_unsupported` where the file is not a plant store, is
   *   damaged, or comes from a newer version of this package; it is left as it is.
   * @throws {Error} if this Node.js bundles an SQLite that can corrupt a file that several processes use.
   */
  constructor(path: string, options: SqliteStorageOptions = {}) {
    if (typeof path !== 'string' || path === '' || path === ':memory:') {
      throw new TypeError('path must name a file (for plants in memory use MemoryStorage)');
    }
    checkOptionNames('SqliteStorage', options, { busyTimeoutMs: true } satisfies Record<keyof SqliteStorageOptions, true>);
    const { busyTimeoutMs = 5000 } = options;
    checkIntegerOption('busyTimeoutMs', busyTimeoutMs, 0, 2_147_483_647);
    this.#path = resolve(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    const { database, isLogTrusted } = openDatabase(this.#path, busyTimeoutMs);
    this.#isSuspect = !isLogTrusted;
    this.#connection = new SqliteConnection(database, busyTimeoutMs);
    this.#identity = identifyFile(this.#path);
  }

  /**
   * See {@link StorageAdapter}.
   *
   * @throws {PlantStoreError} `invalid_plant` if a plant is larger than SQLite can hold (SQLITE_TOOBIG).
   */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const deadline = performance.now() + this.#busyTimeoutMs;
    for (;;) {
      this.#refuseIfClosed();
      try {
        return this.#commitNow(writes);
      } catch (error) {
        if (!hasResultCode(error, 'busy') || performance.now() >= deadline) throw error;
      }
      await sleep(retryAfterMs);
    }
  }

  #commitNow(writes: readonly Write[]): boolean[] {
    if (this.#isSuspect) this.#reopen();
    const connection = this.#connection;
    try {
      return inTransaction(connection.database, () => writes.map((write) => apply(connection, write)));
    } catch (error) {
      this.#isSuspect = isFault(error) || connection.database.isTransaction;
      if (this.#isSuspect || !hasResultCode(error, 'tooBig')) throw error;
      throw new PlantStoreError('invalid_plant', 'The storage cannot hold a plant of this batch.', { cause: error });
    }
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
    const row = this.#connection.selectPage.get(limit, user, user, from, limit) as unknown as PageRow;
    const [count, last, shorts, json, hasMore] = row;
    if (last === null) return emptyPage;
    if (json === null || shorts < count) return listAsJson(this, user, { after, limit });
    return { json, count: Number(count), last, hasMore: hasMore === 1n };
  }

  /**
   * See {@link StorageAdapter}. SQLite counts for each connection, and every one begins with the
   * same number: https://www.sqlite.org/pragma.html#pragma_data_version
   */
  dataVersion(): number {
    this.#refuseIfClosed();
    const [version] = this.#connection.selectVersion.get() as unknown as [bigint];
    return this.#reopened * 2 ** 32 + Number(version);
  }

  /** See {@link StorageAdapter}. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection.database.close();
  }

  /**
   * Takes a new connection into use, and begins a new log. The old one is closed only then, because
   * while one is open the log's index lives on, which knows nothing of what failed: the first to open
   * the file would read that out of the log again, and take it for committed
   * (https://www.sqlite.org/walformat.html#recovery). Closing it frees what locks it may have kept.
   *
   * @throws {PlantStoreError} `storage_unavailable`; reading goes on, the next commit tries again.
   */
  #reopen(): void {
    try {
      const { database: old } = this.#connection;
      this.#connection = new SqliteConnection(reopenDatabase(this.#path, this.#identity, this.#busyTimeoutMs), this.#busyTimeoutMs);
      this.#reopened++;
      old.close();
      if (!takeInLog(this.#connection.database, Math.min(this.#busyTimeoutMs, maxStandstillMs))) throw new Error(`The log of ${this.#path} is in use`);
      this.#isSuspect = false;
    } catch (error) {
      throw new PlantStoreError('storage_unavailable', undefined, { cause: error });
    }
  }

  #read(user: string, after: bigint | undefined, limit: number): StoredPlant[] {
    const from = idAfter(after);
    if (from === undefined) return [];
    const rows = this.#connection.selectPlants.all(user, from, limit) as unknown as [bigint, string, string | null][];
    return rows.map(([id, name, tag]) => toPlant(id, name, tag));
  }

  #readOwned({ user, id }: PlantKey, limit: number): OwnedPlant[] {
    const rows = this.#connection.selectOwned.all(user, id, limit) as unknown as [string, bigint, string, string | null][];
    return rows.map(([owner, ...columns]) => ({ user: owner, plant: toPlant(...columns) }));
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}

/** count, last, shorts, json, hasMore */
type PageRow = [bigint, bigint | null, bigint, string | null, bigint];

function apply(connection: SqliteConnection, write: Write): boolean {
  if (write.kind === 'delete') return Number(connection.delete.run(write.user, write.id).changes) === 1;
  const { id, name, tag } = write.plant;
  const { changes } = connection.insert.run(write.user, id, toColumn(name), tag === undefined ? null : toColumn(tag));
  return Number(changes) === 1;
}

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
