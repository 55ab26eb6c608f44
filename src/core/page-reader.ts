import { setImmediate } from 'node:timers';
import { Arrivals, runInNeutralContext } from './grouping.ts';
import { asStorageError } from './model/errors.ts';
import { plantsJson } from './model/plant.ts';
import { PageCache } from './page-cache.ts';
import { maxPageLength } from './page.ts';
import type { JsonPage, PageRequest } from './page.ts';
import type { ListRange, PlantPage, StorageAdapter } from './storage-adapter.ts';

/** A turn ends after about this many plants, because a synchronous adapter blocks the event loop. */
const maxTurnPlants = maxPageLength;

/** A turn starts at the latest after this many requests, because an iteration with many clients takes long. */
const maxArrivals = 64;

export const emptyPage: JsonPage = Object.freeze({ json: '[]', count: 0, lastId: undefined, hasMore: false });

interface Entry {
  readonly request: PageRequest;
  readonly resolve: (page: JsonPage) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads pages in turns, one at the end of each event loop iteration. A turn first checks the storage's version, so a
 * page reflects every commit that was acknowledged before the page was requested. It then returns cached pages, and
 * reads the others. If only one client sends requests, it does not wait.
 *
 * The reads of a user are limited to one long page at a time, or several short ones, and users are served in
 * round-robin order. A user with many requests therefore does not delay the lists of others.
 */
export class PageReader {
  readonly #storage: StorageAdapter;
  readonly #cache: PageCache | undefined;
  readonly #arrivals = new Arrivals();
  #arrived: Entry[] = [];
  /** Requests whose page is not cached, by user. The user at the start of the map is the next to be served. */
  readonly #waiting = new Map<string, Entry[]>();
  /** The users whose pages are being read. */
  readonly #reading = new Set<string>();
  #isScheduled = false;

  constructor(storage: StorageAdapter, maxCacheBytes: number) {
    this.#storage = storage;
    if (storage.dataVersion !== undefined && maxCacheBytes > 0) {
      this.#cache = new PageCache(maxCacheBytes, storage.dataVersion.bind(storage));
    }
  }

  /** Removes a user's cached pages. */
  forget(user: string): void {
    this.#cache?.forget(user);
  }

  /** The limit must be 1 to 1000. */
  read(request: PageRequest): Promise<JsonPage> {
    return new Promise((resolve, reject) => {
      this.#arrived.push({ request, resolve, reject });
      const isAlone = this.#arrivals.add() && this.#waiting.size === 0;
      if (isAlone || this.#arrived.length >= maxArrivals) this.#takeTurn();
      else this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    runInNeutralContext(() => {
      this.#resolveCached();
      this.#readWaiting();
    });
  }

  #readWaiting(): void {
    let plants = 0;
    for (const [user, entries] of this.#waiting) {
      if (this.#reading.has(user)) continue;
      if (plants >= maxTurnPlants) {
        this.#schedule();
        return;
      }
      plants += this.#readNext(user, entries);
    }
  }

  #resolveCached(): void {
    const arrived = this.#arrived;
    if (arrived.length === 0) return;
    this.#arrived = [];
    try {
      this.#cache?.checkVersion();
    } catch (error) {
      const reason = asStorageError(error);
      for (const { reject } of arrived) reject(reason);
      return;
    }
    for (const entry of arrived) {
      const { user } = entry.request;
      const page = this.#cache?.get(entry.request);
      const entries = this.#waiting.get(user);
      if (page !== undefined) entry.resolve(page);
      else if (entries === undefined) this.#waiting.set(user, [entry]);
      else entries.push(entry);
    }
  }

  /** Reads a user's next pages, each page once. Returns the sum of their limits. */
  #readNext(user: string, entries: readonly Entry[]): number {
    const reads = new Map<string, Promise<JsonPage>>();
    let plants = 0;
    let count = 0;
    for (const { request, resolve, reject } of entries) {
      const key = `${request.limit} ${request.after ?? ''}`;
      let page = reads.get(key);
      if (page === undefined) {
        if (plants > 0 && plants + request.limit > maxTurnPlants) break;
        plants += request.limit;
        page = this.#read(request);
        reads.set(key, page);
      }
      page.then(resolve, reject);
      count++;
    }
    this.#waiting.delete(user);
    // The user is now at the end of the map.
    if (count < entries.length) this.#waiting.set(user, entries.slice(count));
    this.#reading.add(user);
    void Promise.allSettled(reads.values()).then(() => {
      this.#reading.delete(user);
      if (this.#waiting.has(user)) this.#schedule();
    });
    return plants;
  }

  async #read(request: PageRequest): Promise<JsonPage> {
    const changes = this.#cache?.changes;
    const page = toJsonPage(await readPage(this.#storage, request.user, request));
    // If plants have changed during the read, the page might already be stale.
    if (changes === this.#cache?.changes) this.#cache?.add(request, page);
    return page;
  }
}

/** Rejects with a PlantStoreError. An invalid page counts as a failure of the storage. */
export async function readPage(storage: StorageAdapter, user: string, range: ListRange): Promise<PlantPage> {
  try {
    const page = await storage.list(user, range);
    checkPage(page, range);
    return page;
  } catch (error) {
    throw asStorageError(error);
  }
}

export function toJsonPage({ plants, hasMore }: PlantPage): JsonPage {
  return { json: plantsJson(plants), count: plants.length, lastId: plants.at(-1)?.id, hasMore };
}

/** Throws a TypeError if the page is invalid, because an invalid page could make a list endless. */
function checkPage(page: Partial<PlantPage> | null | undefined, { after, limit }: ListRange): void {
  const { plants, hasMore } = page ?? {};
  if (Array.isArray(plants) && typeof hasMore === 'boolean') {
    const [first, last] = [plants[0], plants.at(-1)];
    const isEmpty = first === undefined || last === undefined;
    const isInRange = isEmpty ? !hasMore : (after === undefined || first.id > after) && first.id <= last.id;
    if (plants.length <= limit && isInRange) return;
  }
  const rule = 'at most limit plants, in ascending order of id, after the id; at least one if hasMore is true';
  throw new TypeError(`list of the storage adapter must return { plants, hasMore }: ${rule}`);
}
