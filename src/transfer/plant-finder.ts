import { minInt64 } from '../model/int64.ts';
import type { StoredPlant } from '../model/plant.ts';
import { compareOwned } from '../storage/key-order.ts';
import { maxPageLength } from '../storage/page-bounds.ts';
import type { OwnedPlant, StorageAdapter } from '../storage/storage-adapter.ts';

/** The minimum number of plants in one read. */
const minReadPlants = 16;

/**
 * Finds the stored plants with the given keys, in ascending order. Reads ahead, with larger reads while the plants read
 * ahead are useful: a million consecutive plants require a thousand reads, and a few plants among millions of others
 * require one short read each.
 */
export class PlantFinder {
  readonly #storage: StorageAdapter;
  #page: OwnedPlant[] = [];
  #at = 0;
  #limit = minReadPlants;
  #answeredByPage = 0;
  #isAtEnd = false;

  constructor(storage: StorageAdapter) {
    this.#storage = storage;
  }

  /** Returns the stored plant for each key, or `undefined`. Keys must ascend, even from one call to the next. */
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
    this.#answeredByPage++;
    const owned = this.#page[this.#at];
    return owned !== undefined && compareOwned(owned, wanted) === 0 ? owned.plant : undefined;
  }

  async #readAt(wanted: OwnedPlant): Promise<StoredPlant | undefined> {
    const {
      user,
      plant: { id },
    } = wanted;
    if (id === minInt64) {
      // A scan cannot start right before the smallest id, because no id precedes it.
      const [first] = await this.#storage.list(user, { after: undefined, limit: 1 });
      return first?.id === id ? first : undefined;
    }
    const wasOfUse = this.#answeredByPage * 4 >= this.#page.length;
    this.#limit = wasOfUse ? Math.min(this.#limit * 2, maxPageLength) : Math.max(this.#limit >> 2, minReadPlants);
    this.#page = await this.#storage.scan({ after: { user, id: id - 1n }, limit: this.#limit });
    this.#at = 0;
    this.#answeredByPage = 0;
    this.#isAtEnd = this.#page.length === 0;
    return this.#take(wanted);
  }
}
