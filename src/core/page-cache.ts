import type { JsonPage, PageRequest } from './page.ts';

/** Added to the size of each page and each user, because empty pages also need memory. */
const overhead = 256;

interface UserPages {
  readonly byLimit: Map<number, JsonPage>;
  text: number;
}

/**
 * An LRU cache of the first pages of lists, which saves half the CPU time of a response with 20 plants. `maxText` limits
 * the size of all pages and users, in UTF-16 code units. The least recently used users are evicted.
 */
export class PageCache {
  readonly #maxText: number;
  readonly #dataVersion: () => number;
  /** The least recently used user is first. */
  readonly #users = new Map<string, UserPages>();
  #text = 0;
  #version: number | undefined;
  #changes = 0;

  constructor(maxText: number, dataVersion: () => number) {
    this.#maxText = maxText;
    this.#dataVersion = dataVersion;
  }

  /** Increases whenever cached pages might have become stale. */
  get changes(): number {
    return this.#changes;
  }

  get({ user, after, limit }: PageRequest): JsonPage | undefined {
    const cached = this.#users.get(user);
    const page = after === undefined ? cached?.byLimit.get(limit) : undefined;
    if (cached === undefined || page === undefined) return undefined;
    this.#users.delete(user);
    this.#users.set(user, cached);
    return page;
  }

  add({ user, after, limit }: PageRequest, page: JsonPage | undefined): void {
    if (after !== undefined || page === undefined) return;
    const cached = this.#users.get(user) ?? { byLimit: new Map<number, JsonPage>(), text: user.length + overhead };
    const added = lengthOf(page) - lengthOf(cached.byLimit.get(limit));
    this.#text += this.#users.delete(user) ? added : cached.text + added;
    cached.text += added;
    // The page is frozen, because all callers share the object.
    cached.byLimit.set(limit, Object.freeze(page));
    this.#users.set(user, cached);
    for (const [oldest, { text }] of this.#users) {
      if (this.#text <= this.#maxText) return;
      this.#users.delete(oldest);
      this.#text -= text;
    }
  }

  forget(user: string): void {
    this.#changes++;
    const cached = this.#users.get(user);
    if (cached === undefined) return;
    this.#users.delete(user);
    this.#text -= cached.text;
  }

  /** Removes all pages if another process has changed the storage. */
  checkVersion(): void {
    const version = this.#dataVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.#changes++;
    this.#users.clear();
    this.#text = 0;
  }
}

function lengthOf(page: JsonPage | undefined): number {
  return page === undefined ? 0 : page.json.length + overhead;
}
