import { maxPageLength } from '../page-bounds.ts';
import type { JsonPage, ListRange } from '../storage-adapter.ts';

/** A page to read. */
export interface PageRequest extends ListRange {
  readonly user: string;
}

/** The two ways to read pages. */
export interface PageReads {
  /** Reads pages with one statement. Returns `undefined` for a page whose plants are too long for this. */
  readonly together: (requests: readonly PageRequest[]) => Promise<(JsonPage | undefined)[]>;
  /** Reads any page. */
  readonly alone: (request: PageRequest) => Promise<JsonPage>;
}

interface Entry {
  readonly request: PageRequest;
  readonly resolve: (page: JsonPage) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether the plants were too long to be read together with other pages. */
  isLong: boolean;
}

/** How many groups may be read at a time. Requests that arrive meanwhile wait, and share the next statement. */
const maxGroups = 4;
/** The maximum number of requests, and of plants, in a group. They also limit the size of a result. */
const maxRequests = 64;
const maxPlants = maxPageLength;
/** Below this number of plants, `alone` is less work than `together` for a single request. */
const maxFew = 100;

/**
 * Reads the pages of concurrent requests with one statement, as group commit does for writes. With 64 clients, a page of
 * 20 plants then costs Node.js a fifth and PostgreSQL a third of the CPU time of a statement of its own.
 *
 * A request joins only a statement that has not been sent yet, so it sees every earlier commit. Users are served
 * round-robin, so that one user with many or long lists does not delay the lists of others.
 */
export class ReadGroup {
  readonly #reads: PageReads;
  /** The waiting requests of each user. The first user is served next. */
  readonly #waiting = new Map<string, Entry[]>();
  #groups = 0;
  #isScheduled = false;

  constructor(reads: PageReads) {
    this.#reads = reads;
  }

  /** Reads a page. If a statement fails, exactly the requests of its group reject with the error. */
  read(request: PageRequest): Promise<JsonPage> {
    return new Promise((resolve, reject) => {
      this.#add({ request, resolve, reject, isLong: false });
    });
  }

  #add(entry: Entry): void {
    const { user } = entry.request;
    const entries = this.#waiting.get(user);
    if (entries === undefined) this.#waiting.set(user, [entry]);
    else entries.push(entry);
    this.#schedule();
  }

  /** Waits for the other requests of the same event loop iteration. */
  #schedule(): void {
    if (this.#isScheduled || this.#groups === maxGroups) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#groups < maxGroups && this.#waiting.size > 0) void this.#readGroup(this.#nextGroup());
    });
  }

  async #readGroup(group: readonly Entry[]): Promise<void> {
    this.#groups++;
    try {
      for (const [n, page] of (await this.#readPages(group)).entries()) {
        const entry = group[n];
        if (page !== undefined) entry?.resolve(page);
        else if (entry !== undefined) this.#add(Object.assign(entry, { isLong: true }));
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#groups--;
    if (this.#waiting.size > 0) this.#schedule();
  }

  async #readPages(group: readonly Entry[]): Promise<(JsonPage | undefined)[]> {
    const [first] = group;
    if (group.length === 1 && first !== undefined && (first.isLong || first.request.limit < maxFew)) {
      return [await this.#reads.alone(first.request)];
    }
    return this.#reads.together(group.map(({ request }) => request));
  }

  #nextGroup(): Entry[] {
    const group: Entry[] = [];
    let plants = 0;
    for (const [user, entries] of this.#waiting) {
      const [entry] = entries;
      if (entry === undefined) continue;
      plants += entry.isLong ? maxPlants : entry.request.limit;
      if (group.length > 0 && (group.length === maxRequests || plants > maxPlants)) break;
      group.push(entry);
      entries.shift();
      // Deleting a user and setting it again moves the user to the end of this iteration.
      this.#waiting.delete(user);
      if (entries.length > 0) this.#waiting.set(user, entries);
    }
    return group;
  }
}
