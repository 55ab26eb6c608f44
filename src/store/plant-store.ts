/// <reference lib="esnext.disposable" preserve="true" />
import { checkIntegerOption, checkOptionNames } from '../model/options.ts';
import { PlantStoreError } from '../model/errors.ts';
import { maxLimit, parseNewPlant, toInt64 } from '../model/plant.ts';
import type { NewPlant, PlantId, StoredPlant } from '../model/plant.ts';
import { PageCache } from './page-cache.ts';
import { pageTurn } from './list-scheduler.ts';
import { checkAdapter } from '../storage/check-adapter.ts';
import { emptyPage, listAsJson } from '../storage/json-page.ts';
import { listChecked } from '../storage/list-checked.ts';
import { fullPageEnd, maxPageLength } from '../storage/page-bounds.ts';
import type { JsonPage, ListRange, StorageAdapter, Write } from '../storage/storage-adapter.ts';
import { isUser } from '../model/user.ts';
import { WriteQueue } from './write-queue.ts';

/** Options of a {@link PlantStore}. */
export interface PlantStoreOptions {
  /** Where plants are stored. The store owns it: nothing else may write through it, and `close()` closes it. */
  storage: StorageAdapter;
  /** How many writes may wait for a commit, 1 or more; default 10000. Further writes fail with `saturated`. */
  maxQueuedWrites?: number;
  /**
   * The maximum total size of the cached first pages of lists, in UTF-16 code units of JSON, 0 or more; default
   * 8388608. Applies only if the storage can detect changes by other processes (SqliteStorage and MemoryStorage can).
   */
  maxCachedText?: number;
}

const optionNames = {
  storage: true,
  maxQueuedWrites: true,
  maxCachedText: true,
} as const satisfies Record<keyof PlantStoreOptions, true>;

/** The part of a user's plants to list. */
export interface ListOptions {
  /** List only ids greater than this one (keyset pagination). */
  after?: PlantId | number | undefined;
  /** The maximum number of plants to list, 0 to 2147483647; by default all of them. */
  limit?: number | undefined;
}

/** The maximum number of writes in one commit. */
const maxBatchWrites = 1000;

const listOptionNames = { after: true, limit: true } as const satisfies Record<keyof ListOptions, true>;

/**
 * Reads one page as JSON, ready to be sent as a response. A page holds up to 1000 plants, fewer if names are very long.
 * If `hasMore` is true, the next page starts after `last`. It is not a method, because it is not part of the public API.
 *
 * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
 */
export let plantPageJson: (store: PlantStore, user: string, options?: ListOptions) => Promise<JsonPage>;

/**
 * A collection of plants for each user. A store checks every input, commits concurrent writes together, and keeps the
 * plants in a {@link StorageAdapter}.
 *
 * Every method rejects with a {@link PlantStoreError} `storage_unavailable` if the storage fails (the outcome of a
 * write is then unknown), with `closed` after {@link close}, and with `invalid_user` if `user` is not a string of 1 to
 * 255 UTF-8 bytes that every storage can hold.
 */
export class PlantStore {
  readonly #storage: StorageAdapter;
  readonly #writes: WriteQueue;
  readonly #pages: PageCache | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PlantStoreOptions) {
    checkOptionNames('PlantStore', options, optionNames);
    const { storage, maxQueuedWrites = 10_000, maxCachedText = 8_388_608 } = options;
    checkAdapter('storage', storage);
    checkIntegerOption('maxQueuedWrites', maxQueuedWrites, 1);
    checkIntegerOption('maxCachedText', maxCachedText, 0);
    this.#storage = storage;
    this.#writes = new WriteQueue((writes) => this.#commit(writes), { maxQueuedWrites, maxBatchWrites });
    if (storage.dataVersion !== undefined && maxCachedText > 0) {
      this.#pages = new PageCache({ maxText: maxCachedText, dataVersion: storage.dataVersion.bind(storage) });
    }
  }

  /**
   * Creates a plant for a user. When the promise resolves, the plant is as durable as the storage can make it.
   *
   * @returns the plant as it was stored.
   * @throws {PlantStoreError} `invalid_plant` if it is invalid or the storage cannot hold it; `id_taken` if the user
   *   already has a plant with this id (that plant stays unchanged); `saturated`.
   */
  async createPlant(user: string, newPlant: NewPlant): Promise<StoredPlant> {
    checkUser(user);
    const plant = parseNewPlant(newPlant);
    const isNew = await this.#writes.add({ kind: 'create', user, plant });
    if (!isNew) throw new PlantStoreError('id_taken');
    return plant;
  }

  /**
   * Lists a user's plants in ascending order of id. Without a limit, returns all of them in one array. For long lists
   * use {@link iteratePages}, which needs constant memory.
   *
   * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
   */
  async listPlants(user: string, options: ListOptions = {}): Promise<StoredPlant[]> {
    const plants: StoredPlant[] = [];
    for await (const page of this.iteratePages(user, options)) plants.push(...page);
    return plants;
  }

  /**
   * Iterates over a user's plants in ascending order of id, one at a time, in constant memory. Reads them page by page:
   * see {@link iteratePages}.
   *
   * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
   * @example
   * for await (const { id, name } of store.plants('ada')) console.log(id, name);
   */
  async *plants(user: string, options: ListOptions = {}): AsyncGenerator<StoredPlant, void, undefined> {
    for await (const page of this.iteratePages(user, options)) yield* page;
  }

  /**
   * Iterates over a user's plants in ascending order of id, page by page, in constant memory. A page holds 1 to 1000
   * plants, fewer if names are very long, and is read on demand. A plant that is created or deleted during the
   * iteration may or may not be returned. Every other plant is returned exactly once.
   *
   * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
   */
  async *iteratePages(user: string, options: ListOptions = {}): AsyncGenerator<StoredPlant[], void, undefined> {
    checkUser(user);
    checkOptionNames('a list', options, listOptionNames);
    let left = parseLimit(options.limit);
    let after = parseAfter(options.after);
    while (left > 0) {
      if (this.#closing !== undefined) throw new PlantStoreError('closed');
      const range = { after, limit: Math.min(left, maxPageLength) };
      const page = await asStorageWork(() => listChecked(this.#storage, user, range));
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.id;
      left -= page.length;
      const isLastPage = left === 0 || (page.length < range.limit && fullPageEnd(page) === undefined);
      yield page;
      if (isLastPage) return;
      // A synchronous storage would otherwise block the event loop until the end of the list.
      await pageTurn(user);
    }
  }

  static {
    plantPageJson = (store, user, options = {}) => store.#pageJson(user, options);
  }

  async #pageJson(user: string, options: ListOptions): Promise<JsonPage> {
    checkUser(user);
    checkOptionNames('a list', options, listOptionNames);
    const limit = parseLimit(options.limit);
    const after = parseAfter(options.after);
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    if (limit === 0) return emptyPage;
    const range = { after, limit: Math.min(limit, maxPageLength) };
    const pages = after === undefined ? this.#pages : undefined;
    try {
      return await (pages === undefined
        ? this.#readJson(user, range)
        : pages.read(user, range.limit, () => this.#readJson(user, range)));
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /**
   * Deletes a user's plant.
   *
   * @returns whether the plant existed.
   * @throws {PlantStoreError} `invalid_id`; `saturated`.
   */
  async deletePlant(user: string, id: PlantId | number): Promise<boolean> {
    checkUser(user);
    const int64 = toInt64(id);
    if (int64 === undefined) throw new PlantStoreError('invalid_id');
    return this.#writes.add({ kind: 'delete', user, id: int64 });
  }

  /** Rejects new work, completes the accepted writes, then closes the storage. */
  close(): Promise<void> {
    this.#closing ??= this.#writes.close().then(() => this.#storage.close());
    return this.#closing;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #readJson(user: string, range: ListRange): Promise<JsonPage> {
    return this.#storage.listJson?.(user, range) ?? listAsJson(this.#storage, user, range);
  }

  async #commit(writes: Write[]): Promise<boolean[]> {
    try {
      return await asStorageWork(() => commitChecked(this.#storage, writes));
    } finally {
      // This is also necessary after a failed commit, because its outcome is unknown.
      if (this.#pages !== undefined) for (const { user } of writes) this.#pages.forget(user);
    }
  }
}

function checkUser(user: string): void {
  if (!isUser(user)) throw new PlantStoreError('invalid_user');
}

function parseLimit(limit: number | undefined): number {
  if (limit === undefined) return Infinity;
  if (!Number.isSafeInteger(limit) || limit < 0 || limit > maxLimit) throw new PlantStoreError('invalid_limit');
  return limit;
}

function parseAfter(after: PlantId | number | undefined): PlantId | undefined {
  if (after === undefined) return undefined;
  const id = toInt64(after);
  if (id === undefined) throw new PlantStoreError('invalid_after');
  return id;
}

/** Commits a batch. Throws if the adapter returns too few outcomes, because some write's outcome would be unknown. */
async function commitChecked(storage: StorageAdapter, writes: Write[]): Promise<boolean[]> {
  const outcomes = await storage.commit(writes);
  if (outcomes.length === writes.length) return outcomes;
  throw new Error(`The storage returned ${outcomes.length} outcomes for ${writes.length} writes`);
}

/** Converts any error from a storage adapter to an error of this package. */
async function asStorageWork<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}

function asStorageError(error: unknown): PlantStoreError {
  return error instanceof PlantStoreError
    ? error
    : new PlantStoreError('storage_unavailable', undefined, { cause: error });
}
