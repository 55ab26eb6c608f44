import { PlantStoreError } from '../errors.ts';
import { plantJson } from '../plant.ts';
import type { PlantId, StoredPlant } from '../plant.ts';
import type { PlantStore } from '../plant-store.ts';

/** Which plants a long list is of. */
interface LongRange {
  readonly limit: number;
  readonly after: PlantId | undefined;
}

/** A long list, on its way. */
interface LongList {
  /** The id that the limit cut it short after, as text; empty where it did not. */
  readonly cutAfter: string;
  /** The JSON, in pieces. */
  readonly body: AsyncGenerator<string, void, undefined>;
}

/**
 * Lists with a limit that takes more than one page. Of these the ids are read first: `Link` stands
 * before the body and must name the last one. The answer then holds those plants and no others, or
 * plants created meanwhile would push known ones over the limit and the next page would miss them.
 *
 * That takes 8 bytes a plant until the list is sent. All lists together hold `maxHeldIds`; only one
 * that is alone may hold more.
 */
export class LongLists {
  readonly #store: PlantStore;
  readonly #maxHeldIds: number;
  #heldIds = 0;

  constructor(store: PlantStore, maxHeldIds: number) {
    this.#store = store;
    this.#maxHeldIds = maxHeldIds;
  }

  /** @throws {PlantStoreError} `saturated` where others hold too many ids. */
  async read(user: string, range: LongRange): Promise<LongList> {
    const body = this.#read(user, range);
    const { value: cutAfter } = await body.next();
    return { cutAfter: cutAfter ?? '', body };
  }

  /** First yields `cutAfter`, so that the generator is begun, and gives back what it holds however it ends. */
  async *#read(user: string, range: LongRange): AsyncGenerator<string, void, undefined> {
    let held = 0;
    try {
      const ids: BigInt64Array[] = [];
      let last: PlantId | undefined;
      for await (const page of this.#store.plantPages(user, range)) {
        const isAlone = this.#heldIds === held;
        if (!isAlone && this.#heldIds + page.length > this.#maxHeldIds) throw new PlantStoreError('saturated');
        held += page.length;
        this.#heldIds += page.length;
        ids.push(BigInt64Array.from(page, ({ id }) => id));
        last = page.at(-1)?.id;
      }
      const [more] = last === undefined ? [] : await this.#store.listPlants(user, { after: last, limit: 1 });
      yield more === undefined ? '' : String(last);
      yield* onlyThese(this.#store.plantPages(user, { after: range.after }), ids);
    } finally {
      this.#heldIds -= held;
    }
  }
}

async function* onlyThese(pages: AsyncIterable<StoredPlant[]>, sortedIds: readonly BigInt64Array[]): AsyncGenerator<string, void, undefined> {
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
