import type { JsonPage } from '../storage/storage-adapter.ts';

/** What a page and a user take besides their text, in code units, so that empty pages are bounded too. */
const overhead = 256;

/** How a {@link PageCache} works. */
export interface PageCacheOptions {
  /** How many UTF-16 code units it keeps, of pages and of users; the least recently used users are evicted. */
  readonly maxText: number;
  /** See `StorageAdapter.dataVersion`. */
  readonly dataVersion: () => number;
}

interface UserPages {
  readonly byLimit: Map<number, JsonPage>;
  text: number;
  /** Asked for since it was last considered for dropping: as good as an order of use, and cheaper. */
  isUsed: boolean;
}

/**
 * Keeps the first pages of users' lists, which are what is asked for again. A user's go when the
 * user is written to, which is said by {@link forget}; all go when another process changed the
 * storage. An answer of 20 plants costs half as much when it is kept, one of 1000 a fifth.
 */
export class PageCache {
  readonly #options: PageCacheOptions;
  readonly #users = new Map<string, UserPages>();
  #text = 0;
  #version: number | undefined;
  #isVersionChecked = false;

  /** Counts what was forgotten: see {@link keep}. */
  forgotten = 0;

  constructor(options: PageCacheOptions) {
    this.#options = options;
  }

  /** A first page, if it is kept and still true. */
  find(user: string, limit: number): JsonPage | undefined {
    if (!this.#isVersionChecked) this.#checkVersion();
    const kept = this.#users.get(user);
    if (kept === undefined) return undefined;
    kept.isUsed = true;
    return kept.byLimit.get(limit);
  }

  /**
   * Keeps a first page that was read after {@link forgotten} had the given value; not where it has changed
   * since, because the page may then be of before a commit.
   */
  keep(user: string, limit: number, page: JsonPage, forgotten: number): void {
    if (forgotten !== this.forgotten) return;
    let kept = this.#users.get(user);
    if (kept === undefined) {
      kept = { byLimit: new Map(), text: user.length + overhead, isUsed: false };
      this.#users.set(user, kept);
      this.#text += kept.text;
    }
    const change = lengthOf(page) - lengthOf(kept.byLimit.get(limit));
    // Everybody who asks gets this one object.
    kept.byLimit.set(limit, Object.freeze(page));
    kept.text += change;
    this.#text += change;
    this.#makeRoom();
  }

  /** Drops the pages of a user whose plants were changed, or may have been. */
  forget(user: string): void {
    this.forgotten++;
    const kept = this.#users.get(user);
    if (kept === undefined) return;
    this.#users.delete(user);
    this.#text -= kept.text;
  }

  /**
   * Once a turn of the event loop, since a check costs a third of reading a page. A client that
   * learned of another process's commit asks in a later turn.
   */
  #checkVersion(): void {
    const version = this.#options.dataVersion();
    if (version !== this.#version) {
      this.#version = version;
      this.forgotten++;
      this.#users.clear();
      this.#text = 0;
    }
    this.#isVersionChecked = true;
    setImmediate(() => { this.#isVersionChecked = false; });
  }

  #makeRoom(): void {
    for (const [user, kept] of this.#users) {
      if (this.#text <= this.#options.maxText) return;
      this.#users.delete(user);
      if (kept.isUsed && kept.text <= this.#options.maxText) {
        kept.isUsed = false;
        this.#users.set(user, kept);
      } else {
        this.#text -= kept.text;
      }
    }
  }
}

function lengthOf(page: JsonPage | undefined): number {
  return page === undefined ? 0 : page.json.length + overhead;
}
