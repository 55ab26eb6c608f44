import { PlantStoreError } from '../model/errors.ts';
import { plantJson } from '../model/plant.ts';
import type { PlantId, StoredPlant } from '../model/plant.ts';
import type { PlantStore } from '../store/plant-store.ts';
import { UserTotals } from './user-totals.ts';

/** The share of `maxHeldIds` that the lists of one user may hold. */
const userShare = 1 / 4;

/** How many lists of one user, and of all users together, may wait while earlier lists are being prepared. */
const maxWaitingOfUser = 100;
const maxWaiting = 1000;

/** How many lists of one user may wait even if `maxWaiting` is reached, so that other users cannot use it up. */
const minWaitingOfUser = 8;

/** How many ids one user may hold even if all users together hold more than `maxHeldIds`. */
const minHeldIdsOfUser = 65_536;

/** A request for a list whose limit exceeds one page. */
export interface LongListRequest {
  readonly user: string;
  readonly limit: number;
  readonly after: PlantId | undefined;
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
 * Prepares lists whose limit exceeds one page. The ids are read first, because the `Link` header contains the last id
 * and is sent before the body. The body then contains only plants with these ids. If it also contained plants that were
 * created in the meantime, it would exceed the limit, or end before the id in `Link`.
 *
 * Only one list of each user is prepared at a time. A list holds 8 bytes for each plant until it has been sent. All
 * lists together may hold `maxHeldIds` ids, of which one user may hold a quarter; a user's only list may hold more.
 */
export class LongLists {
  readonly #store: PlantStore;
  readonly #maxHeldIds: number;
  readonly #heldIds: UserTotals;
  /** Maps each user for whom a list is being prepared to callbacks that resume this user's waiting lists. */
  readonly #preparing = new Map<string, (() => void)[]>();
  #waiting = 0;

  constructor(store: PlantStore, maxHeldIds: number) {
    this.#store = store;
    this.#maxHeldIds = maxHeldIds;
    this.#heldIds = new UserTotals(maxHeldIds * userShare);
  }

  /**
   * Prepares a list.
   *
   * @throws {PlantStoreError} `saturated` if too many lists wait or too many ids are held; `malformed_request` if the
   *   client has disconnected.
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
  async *#read({ user, limit, after, isClientGone }: LongListRequest): AsyncGenerator<string, void, undefined> {
    let held = 0;
    try {
      if (isClientGone()) throw new PlantStoreError('malformed_request');
      const ids: BigInt64Array[] = [];
      let last: PlantId | undefined;
      for await (const page of this.#store.iteratePages(user, { limit, after })) {
        if (isClientGone()) throw new PlantStoreError('malformed_request');
        held += page.length;
        this.#heldIds.add(user, page.length);
        this.#checkHeldIds(user, held);
        ids.push(BigInt64Array.from(page, ({ id }) => id));
        last = page.at(-1)?.id;
      }
      const [more] = last === undefined ? [] : await this.#store.listPlants(user, { after: last, limit: 1 });
      yield more === undefined ? '' : String(last);
      yield* onlyThese(this.#store.iteratePages(user, { after }), ids);
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

async function* onlyThese(
  pages: AsyncIterable<StoredPlant[]>,
  sortedIds: readonly BigInt64Array[],
): AsyncGenerator<string, void, undefined> {
  const ids = (function* () {
    for (const chunk of sortedIds) yield* chunk;
  })();
  let wanted = ids.next();
  let separator = '[';
  for await (const page of pages) {
    const kept = page.filter(({ id }) => {
      while (!wanted.done && wanted.value < id) wanted = ids.next();
      return !wanted.done && wanted.value === id;
    });
    if (kept.length > 0) {
      yield separator + kept.map(plantJson).join(',');
      separator = ',';
    }
    if (wanted.done) break;
  }
  yield separator === '[' ? '[]' : ']';
}
