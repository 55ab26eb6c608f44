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
import type { JsonPage, StorageAdapter, Write } from '../storage/storage-adapter.ts';
import { isUser, userRule } from '../model/user.ts';
import { WriteQueue } from './write-queue.ts';

/** What a {@link PlantStore} is made of. */
export interface PlantStoreOptions {
  /** Where plants are kept. The store takes it over: nobody else writes through it, `close()` closes it. */
  storage: StorageAdapter;
  /** How many writes may wait for their commit, 1 or more; default 10000. One more is refused: `saturated`. */
  maxQueuedWrites?: number;
  /** How many writes one commit takes at the most, 1 or more; default 1000. */
  maxBatchWrites?: number;
  /**
   * How much JSON of the lists' first pages is kept for being asked for again, in UTF-16 code units, 0 or more;
   * default 8388608. Only where the storage tells of changes by others (SqliteStorage and
   * MemoryStorage do).
   */
  maxCachedText?: number;
}

const optionNames = {
  storage: true,
  maxQueuedWrites: true,
  maxBatchWrites: true,
  maxCachedText: true,
} as const satisfies Record<keyof PlantStoreOptions, true>;

/** Which part of a user's plants to list. */
export interface ListOptions {
  /** List only ids greater than this one (keyset paging). */
  after?: PlantId | number | undefined;
  /** The most plants to list, 0 to 2147483647; without it all of them. */
  limit?: number | undefined;
}

const listOptionNames = { after: true, limit: true } as const satisfies Record<keyof ListOptions, true>;

/**
 * A collection of plants for each user. Checks every input, commits concurrent writes together,
 * and leaves the keeping to a {@link StorageAdapter}.
 *
 * Every method rejects with a {@link PlantStoreError} of code `storage_unavailable` where the
 * storage failed (of a write, the outcome is then unknown) and `closed` after {@link close};
 * and with a TypeError if `user` is not a string of 1 to 255 bytes of UTF-8 that every storage can hold.
 */
export class PlantStore {
  readonly #storage: StorageAdapter;
  readonly #writes: WriteQueue;
  readonly #pages: PageCache | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PlantStoreOptions) {
    checkOptionNames('PlantStore', options, optionNames);
    const { storage, maxQueuedWrites = 10_000, maxBatchWrites = 1000, maxCachedText = 8_388_608 } = options;
    checkAdapter('storage', storage);
    checkIntegerOption('maxQueuedWrites', maxQueuedWrites, 1);
    checkIntegerOption('maxBatchWrites', maxBatchWrites, 1);
    checkIntegerOption('maxCachedText', maxCachedText, 0);
    this.#storage = storage;
    this.#writes = new WriteQueue((writes) => this.#commit(writes), { maxQueuedWrites, maxBatchWrites });
    if (storage.dataVersion !== undefined && maxCachedText > 0) {
      this.#pages = new PageCache({ maxText: maxCachedText, dataVersion: storage.dataVersion.bind(storage) });
    }
  }

  /**
   * Creates a plant under a user. When the promise resolves the plant is as durable as the
   * storage gets.
   *
   * @returns the plant as it was stored.
   * @throws {PlantStoreError} `invalid_plant`, also if the storage cannot hold the plant; `id_taken`
   *   where the user has a plant with this id, which stays as it is; `saturated`.
   */
  async createPlant(user: string, newPlant: NewPlant): Promise<StoredPlant> {
    checkUser(user);
    const plant = parseNewPlant(newPlant);
    const isNew = await this.#writes.add({ kind: 'create', user, plant });
    if (!isNew) throw new PlantStoreError('id_taken');
    return plant;
  }

  /**
   * Lists a user's plants in ascending id. Without a limit that is all of them, in one array:
   * where there may be many, {@link plantPages} takes constant memory.
   *
   * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
   */
  async listPlants(user: string, options: ListOptions = {}): Promise<StoredPlant[]> {
    const plants: StoredPlant[] = [];
    for await (const page of this.plantPages(user, options)) plants.push(...page);
    return plants;
  }

  /**
   * Iterates over a user's plants in ascending id, page by page, in constant memory. Each page
   * holds 1 to 1000 plants, fewer where names are very long, and is read when it is asked for: a plant that is created or deleted
   * meanwhile may be seen or not, all others are seen exactly once.
   *
   * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
   */
  async *plantPages(user: string, options: ListOptions = {}): AsyncGenerator<StoredPlant[], void, undefined> {
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
      // A storage that answers within the turn would otherwise keep everybody else waiting to the end.
      await pageTurn(user);
    }
  }

  /**
   * Reads one page as the JSON that goes over the wire: up to 1000 plants, fewer where names are
   * very long. While `hasMore`, the next page is the one after `last`.
   *
   * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
   */
  async plantPageJson(user: string, options: ListOptions = {}): Promise<JsonPage> {
    checkUser(user);
    checkOptionNames('a list', options, listOptionNames);
    const limit = parseLimit(options.limit);
    const after = parseAfter(options.after);
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    if (limit === 0) return emptyPage;
    const range = { after, limit: Math.min(limit, maxPageLength) };
    const pages = after === undefined ? this.#pages : undefined;
    try {
      const kept = pages?.find(user, range.limit);
      if (kept !== undefined) return kept;
      const forgotten = pages?.forgotten ?? 0;
      const page = await (this.#storage.listJson?.(user, range) ?? listAsJson(this.#storage, user, range));
      pages?.keep(user, range.limit, page, forgotten);
      return page;
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /**
   * Deletes a user's plant.
   *
   * @returns whether it was there.
   * @throws {PlantStoreError} `invalid_id`; `saturated`.
   */
  async deletePlant(user: string, id: PlantId | number): Promise<boolean> {
    checkUser(user);
    const int64 = toInt64(id);
    if (int64 === undefined) throw new PlantStoreError('invalid_id');
    return this.#writes.add({ kind: 'delete', user, id: int64 });
  }

  /** Takes no more work, finishes the writes already taken, then closes the storage. */
  close(): Promise<void> {
    this.#closing ??= this.#writes.close().then(() => this.#storage.close());
    return this.#closing;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #commit(writes: Write[]): Promise<boolean[]> {
    try {
      return await asStorageWork(() => commitChecked(this.#storage, writes));
    } finally {
      // Of a commit that failed the outcome is unknown.
      if (this.#pages !== undefined) for (const { user } of writes) this.#pages.forget(user);
    }
  }
}

function checkUser(user: string): void {
  if (!isUser(user)) throw new TypeError(`user must be ${userRule}`);
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

/** An adapter that answers too little would otherwise leave it open what became of a write. */
async function commitChecked(storage: StorageAdapter, writes: Write[]): Promise<boolean[]> {
  const outcomes = await storage.commit(writes);
  if (outcomes.length === writes.length) return outcomes;
  throw new Error(`The storage answered ${outcomes.length} outcomes for ${writes.length} writes`);
}

/** Turns what a storage throws or rejects with into an error of this package. */
async function asStorageWork<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}

function asStorageError(error: unknown): PlantStoreError {
  return error instanceof PlantStoreError ? error : new PlantStoreError('storage_unavailable', undefined, { cause: error });
}
