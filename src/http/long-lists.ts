import { PlantStoreError } from '../model/errors.ts';
import { plantJson } from '../model/plant.ts';
import type { StoredPlant } from '../model/plant.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { HttpError } from './http-error.ts';
import { UserTotals } from './user-totals.ts';

/** The default maximum number of ids that all lists together may hold in memory. This number of ids uses 64 MiB. */
const defaultMaxHeldIds = 8_388_608;

/** The share of `maxHeldIds` that the lists of one user may hold. */
const userShare = 1 / 4;

/** The number of ids that the lists of one user may hold even if all lists together exceed `maxHeldIds`. */
const minHeldIdsOfUser = 65_536;

/** The maximum number of requests from one user that may wait until an earlier list of this user has been prepared. */
const maxWaitingOfUser = 100;

/** The maximum number of waiting requests from all users together. */
const maxWaiting = 1000;

/** The number of requests from one user that may wait even if `maxWaiting` has been reached. */
const minWaitingOfUser = 8;

/** A request for a long list, whose `limit` is greater than the number of plants in the first page. */
export interface LongListRequest {
  readonly user: string;
  readonly limit: number;
  /** The first page. It contains fewer plants than `limit`, and more plants follow it. */
  readonly first: JsonPage;
  /** Returns whether the client has disconnected. */
  readonly isClientGone: () => boolean;
}

/** A long list that is ready to be sent. */
interface LongList {
  /** The id of the last plant if the limit truncates the list; an empty string if the list is complete. */
  readonly cutAfter: string;
  /** Yields the JSON in pieces. */
  readonly body: AsyncGenerator<string, void, undefined>;
}

/**
 * Prepares long lists, whose `limit` is greater than the number of plants in the first page. The `Link` header contains
 * the id of the last plant and is sent before the body. Every page after the first is therefore read twice: once to
 * collect the ids of its plants, and once to build the body. The body contains only plants whose ids were collected.
 * Plants that were created in the meantime are left out. With them, the body would contain more plants than `limit`, or
 * would end before the plant whose id is in `Link`.
 *
 * If the JSON were held instead of the ids, each page would be read only once. But an id uses 8 bytes of memory,
 * whereas the JSON of a plant uses at least 40 bytes, even if the name and tag are short.
 *
 * Only one list per user is prepared at a time. A list holds its ids until it has been sent. The lists of one user may
 * together hold at most a quarter of `maxHeldIds`, except that a user's only list may hold more.
 */
export class LongLists {
  readonly #store: PlantStore;
  readonly #maxHeldIds: number;
  readonly #heldIds: UserTotals;
  /** Maps each user for whom a list is being prepared to the callbacks that resume the user's waiting requests. */
  readonly #preparing = new Map<string, (() => void)[]>();
  #waiting = 0;

  constructor(store: PlantStore, maxHeldIds: number = defaultMaxHeldIds) {
    this.#store = store;
    this.#maxHeldIds = maxHeldIds;
    this.#heldIds = new UserTotals(maxHeldIds * userShare);
  }

  /**
   * Waits until all earlier requests of the same user for long lists have been prepared, then prepares this one.
   *
   * @throws {PlantStoreError} `saturated` if too many requests are waiting or too many ids are in memory.
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
   * Yields `cutAfter`, then the pieces of the body. When the generator ends, even after an error, the ids of the list
   * are released.
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
