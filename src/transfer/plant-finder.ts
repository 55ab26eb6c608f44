import { minInt64 } from '../model/int64.ts';
import type { StoredPlant } from '../model/plant.ts';
import { compareOwned } from '../storage/key-order.ts';
import { maxPageLength } from '../storage/page-bounds.ts';
import type { OwnedPlant, StorageAdapter } from '../storage/storage-adapter.ts';

/** The minimum number of plants that a read requests. */
const minReadPlants = 16;

/**
 * Finds the stored plants with the given keys, which must be in ascending order. Each read also fetches the plants that
 * follow the requested plant. If many lookups can be served from plants that were already read, the next reads become
 * larger; otherwise, they become smaller. For example, finding a million consecutive plants takes a thousand reads, and
 * finding a few plants among millions of others takes one short read for each of them.
 */
export class PlantFinder {
  readonly #storage: StorageAdapter;
  #page: OwnedPlant[] = [];
  #at = 0;
  #limit = minReadPlants;
  #lookupsInPage = 0;
  #isAtEnd = false;

  constructor(storage: StorageAdapter) {
    this.#storage = storage;
  }

  /**
   * Returns, for each key, the stored plant or `undefined` if there is none. Keys must be in ascending order, also
   * from one call to the next.
   */
  async findAll(plants: readonly OwnedPlant[]): Promise<(StoredPlant | undefined)[]> {
    const found: (StoredPlant | undefined)[] = [];
    for (const wanted of plants) {
      this.#skipTo(wanted);
      if (this.#at < this.#page.length || this.#isAtEnd) found.push(this.#take(wanted));
      else found.push(await this.#readAt(wanted));
    }
    return found;
  }

  #skipTo(wanted: OwnedPlant): void {
    for (let owned; (owned = this.#page[this.#at]) !== undefined && compareOwned(owned, wanted) < 0;) this.#at++;
  }

  #take(wanted: OwnedPlant): StoredPlant | undefined {
    this.#lookupsInPage++;
    const owned = this.#page[this.#at];
    return owned !== undefined && compareOwned(owned, wanted) === 0 ? owned.plant : undefined;
  }

  async #readAt(wanted: OwnedPlant): Promise<StoredPlant | undefined> {
    const {
      user,
      plant: { id },
    } = wanted;
    if (id === minInt64) {
      // `scan` returns only plants after a given key. No id precedes the smallest int64, so a plant with this id is
      // read with `list` instead.
      const [first] = await this.#storage.list(user, { after: undefined, limit: 1 });
      return first?.id === id ? first : undefined;
    }
    const wasUseful = this.#lookupsInPage * 4 >= this.#page.length;
    this.#limit = wasUseful ? Math.min(this.#limit * 2, maxPageLength) : Math.max(this.#limit >> 2, minReadPlants);
    this.#page = await this.#storage.scan({ after: { user, id: id - 1n }, limit: this.#limit });
    this.#at = 0;
    this.#lookupsInPage = 0;
    this.#isAtEnd = this.#page.length === 0;
    return this.#take(wanted);
  }
}
