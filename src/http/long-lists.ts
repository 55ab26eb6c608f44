import { PlantStoreError } from '../model/errors.ts';
import { plantJson } from '../model/plant.ts';
import type { StoredPlant } from '../model/plant.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { HttpError } from './http-error.ts';
import { UserTotals } from './user-totals.ts';

/** How many ids all lists together may hold in memory. This many ids use 64 MiB. */
const defaultMaxHeldIds = 8_388_608;

/** The share of this maximum that one user's lists may hold. */
const userShare = 1 / 4;

/** How many ids one user's lists may hold even if all lists together hold more than the maximum. */
const minHeldIdsOfUser = 65_536;

/** How many lists may wait for an earlier list of the same user: for each user, and for all users together. */
const maxWaitingOfUser = 100;
const maxWaiting = 1000;

/** How many lists of each user may wait even if other users have already reached `maxWaiting`. */
const minWaitingOfUser = 8;

/** A request for a list with a `limit` that is larger than one page. */
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
  /** The id of the last plant if the limit truncates the list; empty if the list is complete. */
  readonly cutAfter: string;
  /** Yields the JSON in pieces. */
  readonly body: AsyncGenerator<string, void, undefined>;
}

/**
 * Prepares lists with a `limit` that is larger than one page. The `Link` header of such a list contains the id of the
 * last plant, and headers are sent before the body. So every page after the first is read twice: once to collect the
 * ids of its plants, and once for the body. The body then contains only plants whose ids were collected. If it also
 * contained plants that were created in the meantime, it would exceed the limit, or end before the id in `Link`.
 *
 * If the JSON were held instead of the ids, each page would have to be read only once. But an id takes 8 bytes of
 * memory, and the JSON of a plant takes at least 40, even with a short name and tag.
 *
 * Only one list of each user is prepared at a time. A list holds its ids until it has been sent. The lists of one user
 * may hold a quarter of the ids that all lists together may hold. If a user has only one list, this list may hold more.
 */
export class LongLists {
  readonly #store: PlantStore;
  readonly #maxHeldIds: number;
  readonly #heldIds: UserTotals;
  /** The users for whom a list is being prepared, each with the callbacks that resume the user's waiting lists. */
  readonly #preparing = new Map<string, (() => void)[]>();
  #waiting = 0;

  constructor(store: PlantStore, maxHeldIds: number = defaultMaxHeldIds) {
    this.#store = store;
    this.#maxHeldIds = maxHeldIds;
    this.#heldIds = new UserTotals(maxHeldIds * userShare);
  }

  /**
   * Prepares a list. Waits for earlier lists of the same user, then collects the ids.
   *
   * @throws {PlantStoreError} `saturated` if too many lists are waiting or too many ids are held.
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

  /**
   * Yields `cutAfter`, then the pieces of the body. At the end, even after an error, the ids of the list are released.
   */
  async *#read({ user, limit, first, isClientGone }: LongListRequest): AsyncGenerator<string, void, undefined> {
    let held = 0;
    try {
      if (isClientGone()) throw new HttpError('malformed_request');
      const wanted = limit - first.count;
      const ids: BigInt64Array[] = [];
      let read = 0;
      // Reads one plant more than wanted, to find out whether the limit truncates the list.
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

/** Yields the JSON of the plants whose ids are in `sortedIds`. Each plant is preceded by a comma. */
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
