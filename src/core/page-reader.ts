import { setImmediate } from 'node:timers';
import { Arrivals } from './arrivals.ts';
import { asStorageError } from './model/errors.ts';
import type { PageCache } from './page-cache.ts';
import { maxPageLength, readPage, toJsonPage } from './page.ts';
import type { JsonPage, PageRequest } from './page.ts';
import type { StorageAdapter } from './storage-adapter.ts';
import { runInNeutralContext } from './trace.ts';

/** A turn ends after about this many plants, because a synchronous adapter blocks the event loop. */
const maxTurnPlants = maxPageLength;

/** A turn starts at the latest after this many requests, because with many clients an iteration can take a second. */
const maxArrivals = 64;

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
  /** The waiting requests of each user. Users are served in the order of the map. */
  readonly #waiting = new Map<string, Entry[]>();
  /** The users whose pages are being read. */
  readonly #reading = new Set<string>();
  #isScheduled = false;

  constructor(storage: StorageAdapter, cache: PageCache | undefined) {
    this.#storage = storage;
    this.#cache = cache;
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
      this.#resolveOrEnqueue();
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

  /** Resolves each new request whose page is cached, and adds the others to the waiting requests. */
  #resolveOrEnqueue(): void {
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

  /** Requests for the same page share a read. Returns the number of plants that the reads may return. */
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
    // The user moves to the end of the map.
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
