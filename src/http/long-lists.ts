import { PlantStoreError } from '../model/errors.ts';
import { plantJson } from '../model/plant.ts';
import type { StoredPlant } from '../model/plant.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { HttpError } from './http-error.ts';
import { UserTotals } from './user-totals.ts';

/** How many ids all lists together may hold. They use 64 MiB of memory. */
const defaultMaxHeldIds = 8_388_608;

/** The share of this maximum that the lists of one user may hold. */
const userShare = 1 / 4;

/** How many ids one user may hold even if all users together hold more than the maximum. */
const minHeldIdsOfUser = 65_536;

/** How many lists of one user, and of all users together, may wait while earlier lists are being prepared. */
const maxWaitingOfUser = 100;
const maxWaiting = 1000;

/** How many lists of one user may wait even if `maxWaiting` is reached, so that other users cannot use it up. */
const minWaitingOfUser = 8;

/** A request for a list whose limit exceeds one page. */
export interface LongListRequest {
  readonly user: string;
  readonly limit: number;
  /** The first page. It has fewer plants than `limit`, and more plants follow it. */
  readonly first: JsonPage;
  /** Returns whether the client has disconnected. */
  readonly isClientGone: () => boolean;
}

/** A long list that is ready to be sent. */
interface LongList {
  /** The last id of a list that is truncated by its limit; empty if the list is complete. */
  readonly cutAfter: string;
  /** The JSON, in pieces. */
  readonly body: AsyncGenerator<string, void, undefined>;
}

/**
 * Prepares lists whose limit exceeds one page. The body begins with the first page as it was read. The ids of the other
 * plants are read before the body, because the `Link` header contains the last id. The body then contains only plants
 * with these ids. If it also contained plants that were created in the meantime, it would exceed the limit, or end
 * before the id in `Link`. So every page after the first is read twice. An id takes 8 bytes of memory; the JSON of a
 * plant, which would have to be read only once, takes at least 40 with a short name and tag.
 *
 * Only one list of each user is prepared at a time. A list holds its ids until it has been sent. One user may hold a
 * quarter of the ids that all lists together may hold; a user's only list may hold more.
 */
export class LongLists {
  readonly #store: PlantStore;
  readonly #maxHeldIds: number;
  readonly #heldIds: UserTotals;
  /** Maps each user for whom a list is being prepared to callbacks that resume this user's waiting lists. */
  readonly #preparing = new Map<string, (() => void)[]>();
  #waiting = 0;

  constructor(store: PlantStore, maxHeldIds: number = defaultMaxHeldIds) {
    this.#store = store;
    this.#maxHeldIds = maxHeldIds;
    this.#heldIds = new UserTotals(maxHeldIds * userShare);
  }

  /**
   * Prepares a list.
   *
   * @throws {PlantStoreError} `saturated` if too many lists wait or too many ids are held.
   * @throws {HttpError} `malformed_request` if the client has disconnected.
   */
  async prepare(request: LongListRequest): Promise<LongList> {
    await this.#enter(request.user);
    try {
      const body = this.#read(request);
      const { value: cutAfter } = await body.next();
      return { cutAfter: cutAfter ?? '', body };
    } finally {
      this.#leave(request.user);
    }
  }

  async #enter(user: string): Promise<void> {
    const queue = this.#preparing.get(user);
    if (queue === undefined) {
      this.#preparing.set(user, []);
      return;
    }
    const isFull = this.#waiting >= maxWaiting && queue.length >= minWaitingOfUser;
    if (isFull || queue.length >= maxWaitingOfUser) throw new PlantStoreError('saturated');
    this.#waiting++;
    await new Promise<void>((resolve) => {
      queue.push(resolve);
    });
    this.#waiting--;
  }

  #leave(user: string): void {
    const resume = this.#preparing.get(user)?.shift();
    if (resume === undefined) this.#preparing.delete(user);
    else resume();
  }

  /** Yields `cutAfter`, then the body. Releases the ids of the list at the end, even after an error. */
  async *#read({ user, limit, first, isClientGone }: LongListRequest): AsyncGenerator<string, void, undefined> {
    let held = 0;
    try {
      if (isClientGone()) throw new HttpError('malformed_request');
      const wanted = limit - first.count;
      const ids: BigInt64Array[] = [];
      let read = 0;
      // One plant more than wanted shows whether the limit truncates the list.
      for await (const page of this.#store.iteratePages(user, { after: first.last, limit: wanted + 1 })) {
        if (isClientGone()) throw new HttpError('malformed_request');
        read += page.length;
        const pageIds = BigInt64Array.from(page.slice(0, wanted - held), ({ id }) => id);
        held += pageIds.length;
        this.#heldIds.add(user, pageIds.length);
        this.#checkHeldIds(user, held);
        ids.push(pageIds);
      }
      yield read > wanted ? lastOf(ids) : '';
      yield first.json.slice(0, -1);
      yield* onlyThese(this.#store.iteratePages(user, { after: first.last }), ids);
      yield ']';
    } finally {
      this.#heldIds.add(user, -held);
    }
  }

  #checkHeldIds(user: string, heldByList: number): void {
    const heldByUser = this.#heldIds.of(user);
    const isOverShare = heldByUser > heldByList && heldByUser > this.#maxHeldIds * userShare;
    const isFull =
      this.#heldIds.all > this.#maxHeldIds && heldByUser > Math.min(minHeldIdsOfUser, this.#maxHeldIds / 8);
    if (isOverShare || isFull) throw new PlantStoreError('saturated');
  }
}

function lastOf(ids: readonly BigInt64Array[]): string {
  return String(ids.findLast((page) => page.length > 0)?.at(-1));
}

/** Yields the JSON of the plants whose ids are in `sortedIds`, each after a comma. */
async function* onlyThese(
  pages: AsyncIterable<StoredPlant[]>,
  sortedIds: readonly BigInt64Array[],
): AsyncGenerator<string, void, undefined> {
  const ids = (function* () {
    for (const page of sortedIds) yield* page;
  })();
  let wanted = ids.next();
  for await (const page of pages) {
    const kept = page.filter(({ id }) => {
      while (!wanted.done && wanted.value < id) wanted = ids.next();
      return !wanted.done && wanted.value === id;
    });
    if (kept.length > 0) yield `,${kept.map(plantJson).join(',')}`;
    if (wanted.done) break;
  }
}
