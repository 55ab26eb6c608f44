import { Arrivals } from './arrivals.ts';
import { asStorageError } from './model/errors.ts';
import { listAsJson, maxPageLength, readPages } from './page.ts';
import type { JsonPage, JsonStorage, PageRequest } from './page.ts';
import type { PageCache } from './page-cache.ts';

/** Bounds the sum of a batch's limits, because SqliteStorage and MemoryStorage read a batch synchronously. */
const maxBatchPlants = maxPageLength;

/** Batches are read concurrently only if the storage adapter reads asynchronously. */
const maxBatches = 4;

/** This many requests do not wait for the end of the iteration, which can last a second with thousands of clients. */
const maxArrivals = 64;

interface Entry {
  readonly request: PageRequest;
  readonly resolve: (page: JsonPage) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Implements group reads: the pages that are requested in one event loop iteration are read together at its end. A
 * client that is alone does not wait. A page reflects every commit that was acknowledged before the page was requested.
 *
 * Users are served in round-robin order, so that a user with many requests does not delay the lists of others.
 */
export class ReadQueue {
  readonly #storage: JsonStorage;
  readonly #cache: PageCache | undefined;
  #arrived: Entry[] = [];
  /** Each user's waiting requests, in order of arrival. Users are served in the order of the map. */
  readonly #waiting = new Map<string, Entry[]>();
  readonly #arrivals = new Arrivals();
  #isScheduled = false;
  #batches = 0;

  constructor(storage: JsonStorage, cache: PageCache | undefined) {
    this.#storage = storage;
    this.#cache = cache;
  }

  /** The limit must be at most 1000. */
  readPage(request: PageRequest): Promise<JsonPage> {
    return new Promise((resolve, reject) => {
      this.#arrived.push({ request, resolve, reject });
      const isAlone = this.#arrivals.add() && this.#waiting.size === 0;
      if (isAlone || this.#arrived.length >= maxArrivals) this.#readNext();
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#batches === maxBatches || !this.#hasRequests()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#readNext();
      this.#schedule();
    });
  }

  #hasRequests(): boolean {
    return this.#arrived.length > 0 || this.#waiting.size > 0;
  }

  #readNext(): void {
    if (this.#batches === maxBatches || !this.#hasRequests()) return;
    try {
      this.#cache?.checkVersion();
      this.#sortArrived();
      void this.#readBatch(this.#takeBatch());
    } catch (error) {
      rejectAll([...this.#arrived, ...[...this.#waiting.values()].flat()], error);
      this.#arrived = [];
      this.#waiting.clear();
    }
  }

  #sortArrived(): void {
    for (const entry of this.#arrived) {
      if (this.#resolveFromCache(entry)) continue;
      const { user } = entry.request;
      const entries = this.#waiting.get(user);
      if (entries === undefined) this.#waiting.set(user, [entry]);
      else entries.push(entry);
    }
    this.#arrived = [];
  }

  #takeBatch(): Entry[] {
    const batch: Entry[] = [];
    const loading = new Set<string>();
    let plants = 0;
    for (const [user, entries] of this.#waiting) {
      const [entry] = entries;
      if (entry !== undefined && !this.#resolveFromCache(entry)) {
        const { after, limit } = entry.request;
        const key = this.#cache !== undefined && after === undefined ? `${limit} ${user}` : '';
        // The batch ends before a page that does not fit or is already in the batch. The latter is then in the cache.
        if (loading.has(key) || plants + limit > maxBatchPlants) break;
        if (key !== '') loading.add(key);
        batch.push(entry);
        plants += limit;
      }
      entries.shift();
      // Moves the user to the end of the map, so that this loop visits the user again.
      this.#waiting.delete(user);
      if (entries.length > 0) this.#waiting.set(user, entries);
    }
    return batch;
  }

  #resolveFromCache({ request, resolve }: Entry): boolean {
    const page = this.#cache?.get(request);
    if (page === undefined) return false;
    resolve(page);
    return true;
  }

  async #readBatch(batch: readonly Entry[]): Promise<void> {
    if (batch.length === 0) return;
    this.#batches++;
    const groups = this.#storage[listAsJson] === undefined ? batch.map((entry) => [entry]) : [batch];
    await Promise.all(groups.map((group) => this.#settle(group)));
    this.#batches--;
    this.#schedule();
  }

  async #settle(group: readonly Entry[]): Promise<void> {
    const changes = this.#cache?.changes;
    try {
      const requests = group.map(({ request }) => request);
      const pages = await readPages(this.#storage, requests);
      // If plants have changed during the read, the pages might already be stale.
      if (changes === this.#cache?.changes) {
        for (const [n, request] of requests.entries()) this.#cache?.add(request, pages[n]);
      }
      for (const [n, page] of pages.entries()) group[n]?.resolve(page);
    } catch (error) {
      rejectAll(group, error);
    }
  }
}

function rejectAll(entries: readonly Entry[], error: unknown): void {
  const reason = asStorageError(error);
  for (const { reject } of entries) reject(reason);
}
