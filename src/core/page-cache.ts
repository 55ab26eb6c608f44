import type { JsonPage, PageRequest } from './page.ts';

/** The estimated size of the objects of a page or a user, in UTF-16 code units. */
const overhead = 256;

interface UserPages {
  readonly byLimit: Map<number, JsonPage>;
  codeUnits: number;
}

/** An LRU cache of the first pages of lists. */
export class PageCache {
  readonly #maxCodeUnits: number;
  readonly #dataVersion: () => number;
  /** The least recently used user is first. */
  readonly #users = new Map<string, UserPages>();
  #codeUnits = 0;
  #version: number | undefined;
  #changes = 0;

  constructor(maxBytes: number, dataVersion: () => number) {
    this.#maxCodeUnits = maxBytes / 2;
    this.#dataVersion = dataVersion;
  }

  /** Increases whenever cached pages might have become stale. */
  get changes(): number {
    return this.#changes;
  }

  get({ user, after, limit }: PageRequest): JsonPage | undefined {
    const cached = this.#users.get(user);
    if (cached === undefined || after !== undefined) return undefined;
    this.#users.delete(user);
    this.#users.set(user, cached);
    return cached.byLimit.get(limit);
  }

  add({ user, after, limit }: PageRequest, page: JsonPage): void {
    if (after !== undefined) return;
    const cached = this.#users.get(user) ?? { byLimit: new Map<number, JsonPage>(), codeUnits: user.length + overhead };
    const added = lengthOf(page) - lengthOf(cached.byLimit.get(limit));
    this.#codeUnits += this.#users.delete(user) ? added : cached.codeUnits + added;
    cached.codeUnits += added;
    // The page is frozen, because all callers share the object.
    cached.byLimit.set(limit, Object.freeze(page));
    this.#users.set(user, cached);
    for (const [oldest, { codeUnits }] of this.#users) {
      if (this.#codeUnits <= this.#maxCodeUnits) return;
      this.#users.delete(oldest);
      this.#codeUnits -= codeUnits;
    }
  }

  forget(user: string): void {
    this.#changes++;
    const cached = this.#users.get(user);
    if (cached === undefined) return;
    this.#users.delete(user);
    this.#codeUnits -= cached.codeUnits;
  }

  checkVersion(): void {
    const version = this.#dataVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.#changes++;
    this.#users.clear();
    this.#codeUnits = 0;
  }
}

function lengthOf(page: JsonPage | undefined): number {
  return page === undefined ? 0 : page.json.length + overhead;
}
