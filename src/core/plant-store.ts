/// <reference lib="esnext.disposable" preserve="true" />
import { setImmediate as nextIteration } from 'node:timers/promises';
import { PlantStoreError } from './model/errors.ts';
import { checkIntegerOption, checkOptionNames } from '../boundary/options.ts';
import { checkUser, maxLimit, parseInt64, parseNewPlant } from './model/plant.ts';
import type { NewPlant, Plant, PlantIdInput } from './model/plant.ts';
import { PageReader } from './page-reader.ts';
import { maxPageLength, readPage, toJsonPage } from './page.ts';
import type { JsonPage } from './page.ts';
import { checkAdapter } from './storage-adapter.ts';
import type { ListRange, StorageAdapter } from './storage-adapter.ts';
import { WriteQueue } from './write-queue.ts';

/** Options of a {@link PlantStore}. */
export interface PlantStoreOptions {
  /** The storage adapter. The store closes it. Other code must not write to it: cached pages would become stale. */
  storage: StorageAdapter;
  /** The maximum number of pending writes, 1 or more; default 10000. Further writes are rejected with `saturated`. */
  maxPendingWrites?: number | undefined;
  /**
   * The maximum size of the page cache in bytes, 0 or more; default 16777216. Each UTF-16 code unit of JSON counts as
   * two bytes. The cache contains at most one page of each user: the first page of the user's latest list. Only
   * {@link PlantStore.listPageJson} and the HTTP service use it, and only if the adapter has a `dataVersion` method.
   */
  maxCacheBytes?: number | undefined;
}

/** Selects which of a user's plants to list. */
export interface ListOptions {
  /** List only plants with an id greater than this one (keyset pagination). */
  after?: PlantIdInput | undefined;
  /** The maximum number of plants to list, 0 to 2147483647; default: all plants. */
  limit?: number | undefined;
}

/**
 * Stores users' plants in a {@link StorageAdapter}. A store validates every input and commits concurrent writes
 * together. To change its behavior, wrap it: subclasses are not supported.
 *
 * If the storage fails, methods reject with a {@link PlantStoreError} with code `storage_unavailable`, and the outcome
 * of a write is unknown. If the storage is not a plant store of this version, the code is `storage_unsupported`. After
 * {@link close}, it is `closed`. If `user` is not a string of 1 to 255 UTF-8 bytes, or contains U+0000 or an unpaired
 * surrogate, it is `invalid_user`.
 *
 * @example
 * const store = new PlantStore({ storage: new SqliteStorage('plants.db') });
 */
export class PlantStore {
  readonly #storage: StorageAdapter;
  readonly #writes: WriteQueue;
  readonly #pages: PageReader;
  #closing: Promise<void> | undefined;

  /** Does not use the storage yet. If an option is invalid or unknown, throws a TypeError that names the option. */
  constructor(options: PlantStoreOptions) {
    checkOptionNames('PlantStore', options, ['storage', 'maxPendingWrites', 'maxCacheBytes']);
    const { storage, maxPendingWrites = 10_000, maxCacheBytes = 16_777_216 } = options;
    checkAdapter('storage', storage);
    checkIntegerOption('maxPendingWrites', maxPendingWrites, 1);
    checkIntegerOption('maxCacheBytes', maxCacheBytes, 0);
    this.#storage = storage;
    this.#pages = new PageReader(storage, maxCacheBytes);
    this.#writes = new WriteQueue(storage, maxPendingWrites, (user) => {
      this.#pages.forget(user);
    });
  }

  /** The number of pending writes, 0 to `maxPendingWrites`. A write is pending until its commit completes. */
  get pendingWrites(): number {
    return this.#writes.length;
  }

  /**
   * Creates a plant for a user. When the promise resolves, the plant is as durable as the storage can make it.
   *
   * @returns the stored plant.
   * @throws {PlantStoreError} `invalid_plant` if the plant is invalid; `id_taken` if the user already has a plant with
   *   this id (the existing plant is not changed); `saturated` if too many writes are pending.
   * @example
   * const { id } = await store.createPlant('ada', { id: 9007199254740993n, name: 'Fern', tag: 'indoor' });
   */
  async createPlant(user: string, newPlant: NewPlant): Promise<Plant> {
    checkUser(user);
    const plant = parseNewPlant(newPlant);
    const isNew = await this.#writes.add({ kind: 'create', user, plant });
    if (!isNew) throw new PlantStoreError('id_taken');
    return plant;
  }

  /**
   * Returns a user's plants in ascending order of id. {@link iteratePlants} reads long lists in constant memory.
   *
   * @throws {PlantStoreError} `invalid_limit` if `limit` is invalid; `invalid_after` if `after` is invalid.
   * @example
   * const firstTen = await store.listPlants('ada', { limit: 10 });
   * const nextTen = await store.listPlants('ada', { limit: 10, after: firstTen.at(-1)?.id });
   */
  async listPlants(user: string, options: ListOptions = {}): Promise<Plant[]> {
    const plants: Plant[] = [];
    for await (const page of this.#iteratePages(user, options)) plants.push(...page);
    return plants;
  }

  /**
   * Iterates over a user's plants in ascending order of id. It reads pages of at most 1000 plants on demand, in
   * constant memory. A plant that is created or deleted during the iteration might or might not be returned. Every
   * other plant is returned exactly once.
   *
   * @throws {PlantStoreError} `invalid_limit` if `limit` is invalid; `invalid_after` if `after` is invalid.
   * @example
   * for await (const { id, name } of store.iteratePlants('ada')) console.log(id, name);
   */
  async *iteratePlants(user: string, options: ListOptions = {}): AsyncGenerator<Plant, void, undefined> {
    for await (const page of this.#iteratePages(user, options)) yield* page;
  }

  /**
   * Returns a page of a user's plants as JSON, in the form of a response to `GET /plants`. A page contains at most 1000
   * plants, and fewer if names or tags are very long. If `hasMore` is `true`, pass `lastId` as `after` to read the next
   * page. If `limit` is 0, the page is empty, and `hasMore` is `false` even if the user has plants.
   *
   * @throws {PlantStoreError} `invalid_limit` if `limit` is invalid; `invalid_after` if `after` is invalid.
   * @example
   * const { json, hasMore, lastId } = await store.listPageJson('ada', { limit: 100 });
   */
  async listPageJson(user: string, options: ListOptions = {}): Promise<JsonPage> {
    const { after, limit } = this.#parseList(user, options);
    if (limit === 0) return toJsonPage({ plants: [], hasMore: false });
    return this.#pages.read({ user, after, limit: Math.min(limit, maxPageLength) });
  }

  /**
   * Deletes a user's plant.
   *
   * @returns whether the plant existed.
   * @throws {PlantStoreError} `invalid_id` if `id` is invalid; `saturated` if too many writes are pending.
   * @example
   * if (!(await store.deletePlant('ada', 7))) console.log('There was no plant 7');
   */
  async deletePlant(user: string, id: PlantIdInput): Promise<boolean> {
    checkUser(user);
    return this.#writes.add({ kind: 'delete', user, id: parseInt64('invalid_id', 'id', id) });
  }

  /**
   * Rejects new calls, completes the writes that were accepted, and then closes the storage adapter.
   *
   * @example
   * process.once('SIGTERM', () => void store.close());
   */
  close(): Promise<void> {
    this.#closing ??= this.#writes.close().then(() => this.#storage.close());
    return this.#closing;
  }

  /**
   * Calls {@link close}, for use with `await using`.
   *
   * @example
   * await using store = new PlantStore({ storage: new MemoryStorage() });
   */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #parseList(user: string, options: ListOptions): ListRange {
    checkUser(user);
    checkOptionNames('a list request', options, ['after', 'limit']);
    const after = options.after === undefined ? undefined : parseInt64('invalid_after', 'after', options.after);
    const limit = parseLimit(options.limit);
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    return { after, limit };
  }

  async *#iteratePages(user: string, options: ListOptions): AsyncGenerator<Plant[], void, undefined> {
    let { after, limit: left } = this.#parseList(user, options);
    while (left > 0) {
      const range = { after, limit: Math.min(left, maxPageLength) };
      const { plants, hasMore } = await readPage(this.#storage, user, range);
      yield plants;
      if (!hasMore) return;
      after = plants.at(-1)?.id;
      left -= plants.length;
      // An adapter can read synchronously, so other work must be able to run between two pages.
      await nextIteration();
    }
  }
}

function parseLimit(limit: number | undefined): number {
  if (limit === undefined) return Infinity;
  if (Number.isInteger(limit) && limit >= 0 && limit <= maxLimit) return limit;
  throw new PlantStoreError('invalid_limit', `limit must be an integer from 0 to ${maxLimit}.`);
}
