import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlantStoreError } from '../../core/model/errors.ts';
import { checkBooleanOption, checkIntegerOption, checkOptionNames } from '../../boundary/options.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { CommitThread } from './commit-thread/commit-thread.ts';
import { defaultBusyTimeoutMs, hasResultCode } from './database.ts';
import { OpenFiles, Writer } from './writer.ts';
import { Reader } from './reader.ts';

/** Options of a {@link SqliteStorage}. */
export interface SqliteStorageOptions {
  /**
   * The maximum time that a commit waits for another process's lock, in milliseconds, 0 to 2147483647; default 5000.
   * While it waits, a commit blocks the event loop for at most 100 ms at a time. The constructor blocks it for the
   * whole wait.
   */
  busyTimeoutMs?: number | undefined;
  /**
   * Whether commits run in a worker thread; default `false`. With a worker thread, a slow disk does not block the event
   * loop, but each commit uses more CPU time. Plants are still read in the thread that created the storage.
   */
  commitThread?: boolean | undefined;
}

/**
 * Stores plants in an SQLite file with the built-in `node:sqlite` module. The file uses a write-ahead log (WAL) with
 * `synchronous=FULL`, so a commit is on the disk when its promise resolves. Several processes on one machine can share
 * the file, but it must not be on a network file system.
 *
 * If the open file or its WAL is removed or replaced, all further commits fail, but plants can still be listed. The
 * same applies after a list or commit has found damage in the file; the code is then `storage_unsupported`.
 *
 * @example
 * const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
 */
export class SqliteStorage implements StorageAdapter {
  readonly #reader: Reader;
  readonly #files: OpenFiles;
  readonly #committer: Writer | CommitThread;
  /** The error of each commit after a call has found damage in the file. */
  #damage: PlantStoreError | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Opens the file. If the file does not exist, creates it so that only its owner can access it.
   *
   * @param path the path of the file, or a `file:` URL object
   * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is damaged, was written by a
   *   newer version of this package, has a second hard link, is mounted without its folder, or is missing although its
   *   WAL exists. The file is left unchanged, unless it is damaged.
   * @throws {Error} if the file's folder does not exist, if this version of SQLite can corrupt the file, or if the
   *   commit thread cannot be started.
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
