import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkBooleanOption, checkIntegerOption, checkOptionNames } from '../../core/model/options.ts';
import { PlantStoreError } from '../../core/model/errors.ts';
import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import { emptyPage, firstId, maxPageLength } from '../../core/page.ts';
import type { JsonPage, PageRequest } from '../../core/page.ts';
import { CommitThread } from './commit-thread/commit-thread.ts';
import { maxBlockingMs, SqliteConnection } from './connection.ts';
import { inTransaction, openDatabase, reopenDatabase } from './database.ts';
import { isSameFile, lostFile } from './file.ts';
import { checkpointLog } from './checkpoint.ts';
import { readJson, readList, readScan } from './page.ts';
import { hasResultCode, isFault } from './result-code.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';

/** Options of a {@link SqliteStorage}. */
export interface SqliteStorageOptions {
  /**
   * The maximum time that a commit waits for another process's lock, in milliseconds, 0 to 2147483647; default 5000.
   * The wait blocks the event loop for at most 100 ms at a time, and other work can run in between.
   */
  busyTimeoutMs?: number | undefined;
  /**
   * Whether commits run in a worker thread; default `false`. With a worker thread, a slow disk does not block the event
   * loop, but each commit uses more CPU time. Plants are still read in the thread that created the storage.
   */
  commitThread?: boolean | undefined;
}

const optionNames = {
  busyTimeoutMs: true,
  commitThread: true,
} as const satisfies Record<keyof SqliteStorageOptions, true>;

/** The delay, in milliseconds, before retrying a commit that failed because the file was locked. */
const retryAfterMs = 10;

/**
 * Stores plants in an SQLite file with the built-in `node:sqlite` module. The file uses a write-ahead log (WAL) with
 * `synchronous=FULL`, so a commit is on the disk when its promise resolves. If the disk fails during a commit, the file
 * is reopened before the next commit. Until the file is reopened, plants can still be listed. If the file is removed or
 * replaced while it is open, all further commits fail, but plants can still be listed. Several processes on one machine
 * can share a file, but the file must not be on a network file system.
 *
 * @example
 * const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
 */
export class SqliteStorage implements StorageAdapter {
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  readonly #identity: string;
  #connection: SqliteConnection;
  /** Whether the file must be reopened before the next commit, because of a fault or an untrusted WAL. */
  #mustReopen: boolean;
  /**
   * Whether the file was removed or replaced. The connection to the lost file stays open for reading. Further commits
   * fail even if the file is moved back, because its WAL might be missing.
   */
  #isLost = false;
  /** The number of times that the file was reopened. */
  #reopened = 0;
  readonly #thread: CommitThread | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens the file. If the file does not exist, creates it so that only its owner can access it.
   *
   * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is damaged, or was written by a
   *   newer version of this package. Only a damaged file can be changed.
   * @throws {Error} if the file's folder does not exist, or if Node.js uses a version of SQLite that can corrupt a file
   *   that several processes use.
   */
  constructor(path: string, options: SqliteStorageOptions = {}) {
    if (typeof path !== 'string' || path === '' || /^:memory:$|^(?:sqlite|file):/.test(path)) {
      throw new TypeError('path must be the path of a file (to store plants in memory, use MemoryStorage)');
    }
    checkOptionNames('SqliteStorage', options, optionNames);
    const { busyTimeoutMs = 5000, commitThread = false } = options;
    checkIntegerOption('busyTimeoutMs', busyTimeoutMs, 0, 2_147_483_647);
    checkBooleanOption('commitThread', commitThread);
    this.#path = resolve(path);
    this.#busyTimeoutMs = busyTimeoutMs;
    const { database, identity, isLogTrusted } = openDatabase(this.#path, busyTimeoutMs);
    this.#identity = identity;
    this.#mustReopen = !isLogTrusted;
    this.#connection = new SqliteConnection(database, busyTimeoutMs);
    if (commitThread) {
      // This read opens the WAL, so SQLite keeps the WAL index while this connection is open, even if the worker thread
      // ends.
      readScan(this.#connection, '', minInt64, 1);
      this.#thread = new CommitThread({ path: this.#path, identity: this.#identity, busyTimeoutMs });
    }
  }

  /**
   * See {@link StorageAdapter}.
   *
   * @throws {PlantStoreError} `invalid_plant` if a plant is too large for SQLite (SQLITE_TOOBIG).
   */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    if (this.#thread !== undefined) {
      this.#refuseIfClosed();
      return this.#thread.commit(writes);
    }
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
    if (this.#isLost || this.#mustReopen) {
      this.#refuseIfLost();
      this.#reopen();
    }
    const outcomes = this.#apply(writes);
    // If another file is now at the path, a process that opens the path later would not find the commit.
    this.#refuseIfLost();
    return outcomes;
  }

  #apply(writes: readonly Write[]): boolean[] {
    const connection = this.#connection;
    try {
      // A single write needs no explicit transaction. With one client, omitting the transaction saves 5% of a request's
      // CPU time.
      const [first] = writes;
      if (first !== undefined && writes.length === 1) return [apply(connection, first)];
      return inTransaction(connection.database, () => writes.map((write) => apply(connection, write)));
    } catch (error) {
      this.#mustReopen = isFault(error) || connection.database.isTransaction;
      if (this.#mustReopen || !hasResultCode(error, 'tooBig')) throw error;
      throw new PlantStoreError('invalid_plant', 'The storage cannot hold a plant of this batch.', { cause: error });
    }
  }

  #refuseIfLost(): void {
    if (!this.#isLost && isSameFile(this.#path, this.#identity)) return;
    // Only the first error contains instructions, because every error is logged.
    const cause = this.#isLost ? new Error(`${this.#path} was removed or replaced`) : lostFile(this.#path);
    this.#isLost = true;
    throw new PlantStoreError('storage_unavailable', undefined, { cause });
  }

  /** See {@link StorageAdapter}. */
  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.#refuseIfClosed();
    const from = firstId(after);
    return from > maxInt64 ? { plants: [], hasMore: false } : readList(this.#connection, user, from, limit);
  }

  /** See {@link StorageAdapter}. */
  async *scan(): AsyncIterable<OwnedPlant[]> {
    // Every user is greater than ''.
    for (let [user, id] = ['', minInt64]; ;) {
      this.#refuseIfClosed();
      const page = readScan(this.#connection, user, id, maxPageLength);
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      [user, id] = [last.user, last.plant.id];
    }
  }

  /** @internal See `JsonPageReader`. */
  async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    this.#refuseIfClosed();
    return requests.map(({ user, after, limit }) => {
      const from = firstId(after);
      return from > maxInt64 ? emptyPage : readJson(this.#connection, user, from, limit);
    });
  }

  /**
   * See {@link StorageAdapter}. The version combines SQLite's `data_version` with the number of times that the file was
   * reopened. `data_version` is not sufficient by itself, because it starts with the same number on each connection:
   * https://www.sqlite.org/pragma.html#pragma_data_version
   *
   * With a commit thread, the version also changes after each commit by this storage, because the thread commits on
   * another connection.
   */
  dataVersion(): number {
    this.#refuseIfClosed();
    const [version] = this.#connection.selectVersion.get() as unknown as [bigint];
    return this.#reopened * 2 ** 32 + Number(version);
  }

  /** See {@link StorageAdapter}. */
  close(): Promise<void> {
    this.#closing ??= this.#release();
    return this.#closing;
  }

  async #release(): Promise<void> {
    // SQLite checkpoints the WAL when the last connection is closed. If a commit thread exists, its connection is
    // closed last.
    this.#connection.database.close();
    await this.#thread?.close();
  }

  /**
   * Replaces the connection and checkpoints the WAL.
   *
   * The old connection stays open until the new connection exists, because SQLite keeps the WAL index only while a
   * connection is open. The WAL index does not include the failed commit. If SQLite had to rebuild the index from the
   * WAL, the failed commit would take effect (https://www.sqlite.org/walformat.html#recovery). Once the new connection
   * is open, the old connection is closed to release its locks.
   *
   * @throws {PlantStoreError} `storage_unavailable` if a step fails. Plants can still be listed, and the next commit
   *   tries again.
   */
  #reopen(): void {
    try {
      const { database: old } = this.#connection;
      this.#connection = new SqliteConnection(reopenDatabase(this.#path, this.#busyTimeoutMs), this.#busyTimeoutMs);
      this.#reopened++;
      old.close();
      if (!checkpointLog(this.#connection.database, Math.min(this.#busyTimeoutMs, maxBlockingMs))) {
        throw new Error(`The write-ahead log of ${this.#path} is in use`);
      }
      this.#mustReopen = false;
    } catch (error) {
      throw new PlantStoreError('storage_unavailable', undefined, { cause: error });
    }
  }

  #refuseIfClosed(): void {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
  }
}

function apply(connection: SqliteConnection, write: Write): boolean {
  if (write.kind === 'delete') return Number(connection.delete.run(write.user, write.id).changes) === 1;
  const { id, name, tag } = write.plant;
  const { changes } = connection.insert.run(write.user, id, name, tag ?? null);
  return Number(changes) === 1;
}
