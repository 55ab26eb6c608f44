import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { checkIntegerOption } from '../check-option.ts';
import { PlantStoreError } from '../errors.ts';
import { maxInt64, minInt64 } from '../int64.ts';
import type { StoredPlant } from '../plant.ts';
import { createPrivateFile, hasLog, isCutShort, unsupported } from './sqlite-file.ts';
import { maxPageText, textLength } from './page-text.ts';
import type { ListRange, StorageAdapter, Write } from './storage-adapter.ts';

/** How a {@link SqliteStorage} works. */
export interface SqliteStorageOptions {
  /**
   * How long to wait for another process's lock, in milliseconds, 0 to 2147483647; default 5000.
   * This process stands still meanwhile.
   */
  busyTimeoutMs?: number;
}

/** "PLNT": what tells a plant store from other SQLite files. */
const applicationId = 0x504c4e54;

/** Entry n takes a database from version n to n + 1. Never change one that was released. */
const migrations = [
  `CREATE TABLE plants (
     user TEXT NOT NULL,
     id INTEGER NOT NULL,
     name TEXT NOT NULL,
     tag TEXT,
     PRIMARY KEY (user, id)
   ) STRICT, WITHOUT ROWID`,
];

/** How many rows one statement reads, so that a page of long names is not read far past its bound. */
const maxReadRows = 100;

/** https://www.sqlite.org/rescode.html */
const resultCode = { error: 1, busy: 5, corrupt: 11, notADatabase: 26 };
/** At opening these mean that the content is not what it should be. */
const damageCodes = ['error', 'corrupt'] as const;

/**
 * Keeps plants in an SQLite file, through Node's own `node:sqlite`. A commit is on the disk when
 * its promise resolves (write-ahead log, `synchronous=FULL`). Several processes of one machine can
 * share a file; it must not be on a network file system.
 */
export class SqliteStorage implements StorageAdapter {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  readonly #select: StatementSync;
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
    const file = resolve(path);
    createPrivateFile(file);
    if (hasLog(file)) checkReadOnly(file, busyTimeoutMs);
    this.#database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    try {
      setUp(this.#database, file, busyTimeoutMs);
      this.#insert = this.#database.prepare(
        'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      );
      this.#delete = this.#database.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
      // node:sqlite compiles a statement with a bare `LIMIT ?` anew at every run (a fifth of a list's CPU).
      this.#select = this.#database.prepare(
        'SELECT id, name, tag FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT ? + 0',
      );
    } catch (error) {
      this.#database.close();
      throw asRefusal(file, error);
    }
    // Not as options of prepare(): Node 22 ignores them there.
    this.#select.setReadBigInts(true);
    this.#select.setReturnArrays(true);
  }

  /** See {@link StorageAdapter}. */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    return inTransaction(this.#database, () => writes.map((write) => this.#apply(write)));
  }

  /** See {@link StorageAdapter}. */
  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    this.#refuseIfClosed();
    const page: StoredPlant[] = [];
    let last = after;
    for (let text = 0; page.length < limit && text < maxPageText; ) {
      const count = Math.min(maxReadRows, limit - page.length);
      const plants = this.#read(user, last, count);
      for (const plant of plants) {
        page.push(plant);
        text += textLength(plant);
        if (text >= maxPageText) break;
      }
      if (plants.length < count) break;
      last = page.at(-1)?.id;
    }
    return page;
  }

  /** See {@link StorageAdapter}. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#database.close();
  }

  #read(user: string, after: bigint | undefined, limit: number): StoredPlant[] {
    if (after === maxInt64) return [];
    const from = after === undefined ? minInt64 : after + 1n;
    const rows = this.#select.all(user, from, limit) as unknown as [bigint, string, string | null][];
    return rows.map(([id, name, tag]) => (tag === null ? { id, name } : { id, name, tag }));
  }

  #apply(write: Write): boolean {
    const { changes } =
      write.kind === 'create'
        ? this.#insert.run(write.user, write.plant.id, write.plant.name, write.plant.tag ?? null)
        : this.#delete.run(write.user, write.id);
    return Number(changes) === 1;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}

/**
 * Looks at a file that has a log before it is opened for good: closing the last connection that can
 * write takes the log into the file, and another application's file is to be left as it is.
 */
function checkReadOnly(path: string, busyTimeoutMs: number): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    readVersion(database, path);
  } catch (error) {
    throw asRefusal(path, error);
  } finally {
    database.close();
  }
}

function asRefusal(path: string, error: unknown): unknown {
  if (hasResultCode(error, 'notADatabase')) return unsupported(path, 'is not an SQLite database', error);
  return damageCodes.some((name) => hasResultCode(error, name)) ? unsupported(path, 'is damaged', error) : error;
}

function setUp(database: DatabaseSync, path: string, busyTimeoutMs: number): void {
  if (readVersion(database, path) < migrations.length) inTransaction(database, () => { migrate(database, path); });
  enterWalMode(database, busyTimeoutMs);
  database.exec('PRAGMA synchronous = FULL');
}

/** The version of the schema in the file; 0 where the file is new. */
function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, 'user_version');
  if (version > migrations.length) {
    throw unsupported(path, `has schema version ${version}; this version of plant-store knows up to ${migrations.length}`);
  }
  if (version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return 0;
  if (readPragma(database, 'application_id') !== applicationId) {
    throw unsupported(path, 'is an SQLite database of another application');
  }
  if (isCutShort(path, readPragma(database, 'page_count') * readPragma(database, 'page_size'))) {
    throw unsupported(path, 'is damaged: it was cut short');
  }
  return version;
}

/** Under the write lock, so that of several processes that start at once one does the work. */
function migrate(database: DatabaseSync, path: string): void {
  for (const step of migrations.slice(readVersion(database, path))) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
}

/**
 * Last, so that the file's own header is complete before any content is in the log alone.
 * Where several processes enter WAL mode at once, SQLite fails at times without waiting for the
 * lock (seen once in 1,200 starts), so the waiting is done here.
 */
function enterWalMode(database: DatabaseSync, busyTimeoutMs: number): void {
  const deadline = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!hasResultCode(error, 'busy') || Date.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  // IMMEDIATE takes the write lock now: taking it later, after a read, can fail without waiting.
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function hasResultCode(error: unknown, name: keyof typeof resultCode): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === resultCode[name];
}
