import type { JsonPage, ListRange } from './storage/storage-adapter.ts';

/** What a page takes besides its text, in code units, so that any number of empty pages is bounded too. */
const pageOverhead = 256;

/** How a {@link PageCache} works. */
export interface PageCacheOptions {
  /** How many UTF-16 code units of JSON it keeps; the users who did not ask for the longest go first. */
  readonly maxText: number;
  /** See `StorageAdapter.dataVersion`. */
  readonly dataVersion: () => number;
}

interface UserPages {
  readonly pages: Map<number | string, JsonPage>;
  text: number;
  /** Asked for since it was last considered for dropping: as good as an order of use, and cheaper. */
  isUsed: boolean;
}

/**
 * Keeps pages that may be asked for again. A user's pages go when the user is written to, which is
 * said by {@link forget}; all go when another process changed the storage.
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

  /** A page, if it is kept and still true. */
  find(user: string, range: ListRange): JsonPage | undefined {
    if (!this.#isVersionChecked) this.#checkVersion();
    const kept = this.#users.get(user);
    if (kept === undefined) return undefined;
    kept.isUsed = true;
    return kept.pages.get(keyOf(range));
  }

  /**
   * Keeps a page that was read after {@link forgotten} had the given value; not where it has changed
   * since, because the page may then be of before a commit.
   */
  keep(user: string, range: ListRange, page: JsonPage, forgotten: number): void {
    if (forgotten !== this.forgotten) return;
    let kept = this.#users.get(user);
    if (kept === undefined) {
      kept = { pages: new Map(), text: 0, isUsed: false };
      this.#users.set(user, kept);
    }
    const key = keyOf(range);
    const change = lengthOf(page) - lengthOf(kept.pages.get(key));
    kept.pages.set(key, page);
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

function keyOf({ after, limit }: ListRange): number | string {
  return after === undefined ? limit : `${after} ${limit}`;
}

function lengthOf(page: JsonPage | undefined): number {
  return page === undefined ? 0 : page.json.length + pageOverhead;
}
