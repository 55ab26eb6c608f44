import { setImmediate } from 'node:timers';
import { Arrivals, runInNeutralContext } from './grouping.ts';
import { asStorageError } from './model/errors.ts';
import { maxPageLength, readPage, toJsonPage } from './page.ts';
import type { JsonPage, PageRequest } from './page.ts';
import type { StorageAdapter } from './storage-adapter.ts';

/** A turn starts early if this many requests have arrived, because an iteration with many clients takes long. */
const maxArrivals = 64;

interface Entry {
  readonly request: PageRequest;
  readonly resolve: (page: JsonPage) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads pages in turns: one in each event loop iteration, or more if there are many requests. A turn first checks the
 * storage's version, so a page reflects every commit that was acknowledged before the page was requested. It then
 * returns cached pages, and reads the others. If only one client sends requests, its turns start immediately.
 *
 * A user's reads in progress have limits of at most 1000 plants in total. Users are served in round-robin order. A user
 * with many requests therefore does not delay the lists of others.
 */
export class PageReader {
  readonly #storage: StorageAdapter;
  readonly #cache: PageCache | undefined;
  readonly #arrivals = new Arrivals();
  #arrived: Entry[] = [];
  /** Requests whose page is not cached, by user. Users are served in the order of the map, unless in `#reading`. */
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

  /** Must be called when a user's plants might have changed. */
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
      this.#resolveOrSortArrived();
      this.#readWaiting();
    });
  }

  /** Resolves the arrived requests whose page is cached, and sorts the others by user. */
  #resolveOrSortArrived(): void {
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

  #readWaiting(): void {
    let plants = 0;
    for (const [user, entries] of this.#waiting) {
      if (this.#reading.has(user)) continue;
      // The other users wait for the next iteration, because a synchronous adapter blocks the event loop.
      if (plants >= maxPageLength) {
        this.#schedule();
        return;
      }
      plants += this.#readPagesOf(user, entries);
    }
  }

  /** Reads a user's next pages, each page once. Returns the sum of their limits. */
  #readPagesOf(user: string, entries: readonly Entry[]): number {
    const reads = new Map<string, Promise<JsonPage>>();
    let plants = 0;
    let count = 0;
    for (const { request, resolve, reject } of entries) {
      const key = `${request.limit} ${request.after ?? ''}`;
      let page = reads.get(key);
      if (page === undefined) {
        if (plants > 0 && plants + request.limit > maxPageLength) break;
        plants += request.limit;
        page = this.#readAndCache(request);
        reads.set(key, page);
      }
      page.then(resolve, reject);
      count++;
    }
    // Adding the user again moves it to the end of the map, where this turn skips it.
    this.#waiting.delete(user);
    if (count < entries.length) this.#waiting.set(user, entries.slice(count));
    this.#reading.add(user);
    void Promise.allSettled(reads.values()).then(() => {
      this.#reading.delete(user);
      if (this.#waiting.has(user)) this.#schedule();
    });
    return plants;
  }

  async #readAndCache(request: PageRequest): Promise<JsonPage> {
    const changes = this.#cache?.changes;
    const page = toJsonPage(await readPage(this.#storage, request.user, request));
    // If plants have changed during the read, the page might already be stale.
    if (changes === this.#cache?.changes) this.#cache?.add(request, page);
    return page;
  }
}

/** The estimated size of a cache entry without its user and its JSON. */
const overheadBytes = 1024;

/**
 * Contains at most one page of each user: the first page of the user's latest list. A user who requests lists with many
 * different limits therefore uses no more memory.
 */
class PageCache {
  readonly #maxBytes: number;
  readonly #dataVersion: () => number;
  readonly #pages = new Map<string, { readonly limit: number; readonly page: JsonPage }>();
  #bytes = 0;
  #version: number | undefined;
  /** Increases whenever cached pages might have become stale. */
  changes = 0;

  constructor(maxBytes: number, dataVersion: () => number) {
    this.#maxBytes = maxBytes;
    this.#dataVersion = dataVersion;
  }

  get({ user, after, limit }: PageRequest): JsonPage | undefined {
    const cached = this.#pages.get(user);
    return cached?.limit === limit && after === undefined ? cached.page : undefined;
  }

  add({ user, after, limit }: PageRequest, page: JsonPage): void {
    if (after !== undefined) return;
    this.#remove(user);
    this.#pages.set(user, { limit, page });
    this.#bytes += sizeOf(user, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest);
    }
  }

  forget(user: string): void {
    this.changes++;
    this.#remove(user);
  }

  checkVersion(): void {
    const version = this.#dataVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.changes++;
    this.#pages.clear();
    this.#bytes = 0;
  }

  #remove(user: string): void {
    const cached = this.#pages.get(user);
    if (cached === undefined) return;
    this.#pages.delete(user);
    this.#bytes -= sizeOf(user, cached.page);
  }
}

function sizeOf(user: string, { json }: JsonPage): number {
  return (user.length + json.length) * 2 + overheadBytes;
}
