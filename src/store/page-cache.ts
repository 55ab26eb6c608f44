import type { JsonPage } from '../storage/storage-adapter.ts';

/**
 * A fixed number of UTF-16 code units that is added to the size of each page and each user. Because of this overhead,
 * the number of empty pages in the cache is also limited.
 */
const overhead = 256;

/** Options of a {@link PageCache}. */
export interface PageCacheOptions {
  /**
   * The maximum total size of all pages and users, in UTF-16 code units. If the total size exceeds this maximum, the
   * least recently used users are evicted with all their pages.
   */
  readonly maxText: number;
  /** See `StorageAdapter.dataVersion`. */
  readonly dataVersion: () => number;
}

interface UserPages {
  readonly byLimit: Map<number, JsonPage>;
  text: number;
}

/**
 * An LRU cache of the first pages of users' lists, which clients request repeatedly. {@link forget} removes the pages
 * of one user after a write. If another process has changed the storage, all pages are removed. With the cache, a
 * response with 20 plants takes half the CPU time, and a response with 1000 plants takes a fifth.
 */
export class PageCache {
  readonly #options: PageCacheOptions;
  /** The pages of each user. The least recently used user is first. */
  readonly #users = new Map<string, UserPages>();
  #text = 0;
  #version: number | undefined;
  #isVersionChecked = false;
  #invalidations = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns the first page of a user's list from the cache, or reads the page with `load` and caches it. If the pages
   * of any user were removed during `load`, the page is not cached, because a commit may have made the loaded page
   * stale.
   */
  read(user: string, limit: number, load: () => Promise<JsonPage>): JsonPage | Promise<JsonPage> {
    if (!this.#isVersionChecked) this.#checkVersion();
    const cached = this.#users.get(user);
    const page = cached?.byLimit.get(limit);
    if (cached === undefined || page === undefined) return this.#load(user, limit, load);
    this.#users.delete(user);
    this.#users.set(user, cached);
    return page;
  }

  async #load(user: string, limit: number, load: () => Promise<JsonPage>): Promise<JsonPage> {
    const invalidations = this.#invalidations;
    const page = await load();
    if (invalidations === this.#invalidations) this.#add(user, limit, page);
    return page;
  }

  #add(user: string, limit: number, page: JsonPage): void {
    const cached = this.#users.get(user) ?? { byLimit: new Map<number, JsonPage>(), text: user.length + overhead };
    const added = lengthOf(page) - lengthOf(cached.byLimit.get(limit));
    this.#text += this.#users.delete(user) ? added : cached.text + added;
    cached.text += added;
    // The page is frozen because all callers share this object.
    cached.byLimit.set(limit, Object.freeze(page));
    this.#users.set(user, cached);
    for (const [oldest, { text }] of this.#users) {
      if (this.#text <= this.#options.maxText) return;
      this.#users.delete(oldest);
      this.#text -= text;
    }
  }

  /** Removes a user's pages. Call this when the user's plants have changed or may have changed. */
  forget(user: string): void {
    this.#invalidations++;
    const cached = this.#users.get(user);
    if (cached === undefined) return;
    this.#users.delete(user);
    this.#text -= cached.text;
  }

  /**
   * Clears the cache if another process has changed the storage. The check costs a third as much as reading a page, so
   * it runs at most once per event loop iteration. One check per iteration is sufficient: if a client knows about a
   * commit by another process, the client sends its next request after the commit. The request arrives in a later
   * iteration, which runs a new check.
   */
  #checkVersion(): void {
    const version = this.#options.dataVersion();
    if (version !== this.#version) {
      this.#version = version;
      this.#invalidations++;
      this.#users.clear();
      this.#text = 0;
    }
    this.#isVersionChecked = true;
    setImmediate(() => {
      this.#isVersionChecked = false;
    });
  }
}

function lengthOf(page: JsonPage | undefined): number {
  return page === undefined ? 0 : page.json.length + overhead;
}
