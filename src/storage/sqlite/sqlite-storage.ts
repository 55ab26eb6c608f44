import { resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { PlantStoreError } from '../../core/model/errors.ts';
import { checkBooleanOption, checkIntegerOption, checkOptionNames } from '../../boundary/options.ts';
import type { Plant } from '../../core/model/plant.ts';
import { cutPage, maxPageBytes, maxPageLength, scanPages } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { CommitThread } from './commit-thread/commit-thread.ts';
import { defaultBusyTimeoutMs, hasResultCode, inTransaction } from './database.ts';
import { OpenFiles, Writer } from './writer.ts';

/** Options of a {@link SqliteStorage}. */
export interface SqliteStorageOptions {
  /**
   * The maximum time that a commit waits for another process's lock, in milliseconds, 0 to 2147483647; default 5000.
   * While it waits, a commit blocks the event loop for at most 100 ms at a time. The constructor blocks it for the
   * whole wait, and can wait several times, because it takes several locks.
   */
  busyTimeoutMs?: number | undefined;
  /**
   * Whether commits run in a worker thread; default `false`. With a worker thread, a slow disk does not block the event
   * loop, but each commit uses more CPU time. Plants are still read in the thread that created the storage. If the
   * worker thread cannot load its code, each commit is rejected, with the reason as the error's `cause`.
   */
  commitThread?: boolean | undefined;
}

/**
 * Stores plants in an SQLite file with the built-in `node:sqlite` module. The file uses a write-ahead log (WAL) with
 * `synchronous=FULL`, so a commit is on the disk when its promise resolves. Several processes on one machine can share
 * the file, but it must not be on a network file system.
 *
 * If the open file or its WAL is removed or replaced, all further commits fail, but plants can still be listed. The
 * same applies after a list, scan or commit has found damage in the file; the code is then `storage_unsupported`.
 *
 * @example
 * const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
 */
export class SqliteStorage implements StorageAdapter {
  readonly #reader: Reader;
  readonly #files: OpenFiles;
  readonly #committer: Writer | CommitThread;
  /** The error with which commits are rejected after a list, a scan or a commit has found damage in the file. */
  #damage: PlantStoreError | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens the file. If the file does not exist, creates it so that only its owner can access it.
   *
   * @param path the path of the file, or a `file:` URL object
   * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is damaged, was written by a
   *   newer version of this package, has a second hard link, is mounted without its folder, or is missing or empty
   *   although its WAL contains writes. The file is left unchanged, unless it is damaged.
   * @throws {Error} if the file's folder does not exist, if this process may not write the file, if this version of
   *   SQLite can corrupt the file, or if the file of the commit thread is missing.
   * @throws {TypeError} if `path` or an option is invalid; the message names it.
   */
  constructor(path: string | URL, options: SqliteStorageOptions = {}) {
    const file = toFile(path);
    checkOptionNames('SqliteStorage', options, ['busyTimeoutMs', 'commitThread']);
    const { busyTimeoutMs = defaultBusyTimeoutMs, commitThread = false } = options;
    checkIntegerOption('busyTimeoutMs', busyTimeoutMs, 0, 2_147_483_647);
    checkBooleanOption('commitThread', commitThread);

    this.#files = new OpenFiles(file, busyTimeoutMs);
    const { database, files } = this.#files;
    try {
      this.#reader = new Reader(database);
      this.#committer = commitThread
        ? new CommitThread({ files, busyTimeoutMs })
        : new Writer(this.#files, busyTimeoutMs);
    } catch (error) {
      this.#files.close();
      throw error;
    }
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    if (this.#damage !== undefined) throw this.#damage;
    try {
      return await this.#committer.commit(writes);
    } catch (error) {
      return this.#noticeDamage(error);
    }
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    this.#refuseIfClosed();
    try {
      return this.#reader.list(user, range);
    } catch (error) {
      return this.#noticeDamage(error);
    }
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    this.#refuseIfClosed();
    try {
      for await (const page of this.#reader.scan()) {
        yield page;
        this.#refuseIfClosed();
      }
    } catch (error) {
      this.#noticeDamage(error);
    }
  }

  dataVersion(): number {
    this.#refuseIfClosed();
    return this.#reader.dataVersion();
  }

  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    // The connection that is closed last checkpoints the WAL: that of the commit thread, if there is one.
    this.#files.close();
    await this.#committer.close();
  }

  /**
   * Throws the error, or `storage_unsupported` if it shows that the file is damaged. Later commits then fail, because
   * they could overwrite plants that can still be read.
   */
  #noticeDamage(error: unknown): never {
    if (!hasResultCode(error, 'corrupt') && !hasResultCode(error, 'notADatabase')) throw error;
    this.#damage = new PlantStoreError('storage_unsupported', 'The database file is damaged or cannot be read.', {
      cause: error,
    });
    throw this.#damage;
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
  }
}

function toFile(path: string | URL): string {
  const { protocol, search } = Object(path) as Partial<URL>;
  if (protocol === 'file:' && search === '') return fileURLToPath(path);
  if (typeof path !== 'string' || path === '' || /^:memory:$|^(?:sqlite|file):/.test(path)) {
    throw new TypeError('path must be the path or file: URL of a file (to store plants in memory, use MemoryStorage)');
  }
  return resolve(path);
}

/** Less than every int64. SQLite compares integers with doubles exactly. */
const beforeAll = -Infinity;

// With `LIMIT ?` in place of `LIMIT ? + 0`, SQLite would prepare the statement again for each execution.
const ofUser = 'FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT';

/** Only the rows of a scan contain the user. */
type Row = readonly [id: bigint, name: string, tag: string | null, user?: string];

/** A page is read in steps of this many rows, so that reading ends soon after long names fill the page. */
const stepRows = 32;

/** @internal */
export class Reader {
  readonly #database: DatabaseSync;
  readonly #selectPlants: StatementSync;
  readonly #selectOwned: StatementSync;
  readonly #selectVersion: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#selectPlants = prepareSelect(database, `SELECT id, name, tag ${ofUser} ? + 0`);
    this.#selectOwned = prepareSelect(
      database,
      'SELECT id, name, tag, user FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT ? + 0',
    );
    this.#selectVersion = prepareSelect(database, 'PRAGMA data_version');
  }

  list(user: string, { after, limit }: ListRange): PlantPage {
    const read = (): Plant[] => readSteps(this.#selectPlants, toPlant, [user, after ?? beforeAll], limit + 1);
    // Only steps that run in one transaction read the same snapshot.
    return cutPage(limit < stepRows ? read() : inTransaction(this.#database, 'DEFERRED', read), limit);
  }

  scan(): AsyncIterable<OwnedPlant[]> {
    const toOwnedPlant = (row: Row): OwnedPlant => ({ user: row[3] ?? '', plant: toPlant(row) });
    return scanPages((user, after) => readSteps(this.#selectOwned, toOwnedPlant, [user, after], maxPageLength));
  }

  /** Changes when another connection commits. */
  dataVersion(): number {
    const [version] = this.#selectVersion.get() as unknown as [bigint];
    return Number(version);
  }
}

/** Reads up to `limit` plants after a key. Stops earlier if the plants fill a page. */
function readSteps<Item>(
  statement: StatementSync,
  toItem: (row: Row) => Item,
  [user, after]: [string, bigint | number],
  limit: number,
): Item[] {
  const items: Item[] = [];
  for (let characters = 0; ;) {
    const most = Math.min(limit - items.length, stepRows);
    const rows = statement.all(user, after, most) as unknown as Row[];
    for (const row of rows) {
      items.push(toItem(row));
      characters += row[1].length + (row[2]?.length ?? 0);
    }
    const last = rows.at(-1);
    const isEnough = items.length === limit || characters >= maxPageBytes;
    if (last === undefined || rows.length < most || isEnough) return items;
    [user, after] = [last[3] ?? user, last[0]];
  }
}

function toPlant([id, name, tag]: Row): Plant {
  return tag === null ? { id, name } : { id, name, tag };
}

function prepareSelect(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // Node.js 22 ignores the corresponding options of `prepare()`.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
