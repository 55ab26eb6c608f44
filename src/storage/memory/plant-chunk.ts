import type { PlantId, StoredPlant } from '../../core/model/plant.ts';

/**
 * The number of plants above which a chunk stores the ids in an array of their own. The array would double the memory
 * of a user who has only a few plants.
 */
const maxPlantsWithoutIds = 32;

/**
 * A short sorted array of plants, in ascending order of id.
 *
 * A larger chunk also stores the ids in an array of their own, because a binary search that follows the references to
 * plants and ids misses the CPU cache at almost every step. Adding a plant to 600,000 others takes half as long with
 * the array as without it.
 */
export class PlantChunk {
  readonly #plants: StoredPlant[] = [];
  /** The ids of the plants, in the same order. The array may be longer; its other elements are unused. */
  #ids: BigInt64Array | undefined;

  get length(): number {
    return this.#plants.length;
  }

  /** The smallest id; `undefined` if the chunk is empty. */
  get firstId(): PlantId | undefined {
    return this.#idAt(0);
  }

  /** Adds a plant, unless a plant with the same id exists. Returns whether the plant was added. */
  add(plant: StoredPlant): boolean {
    const { id } = plant;
    const index = this.#indexOfFirst(id);
    if (index < this.length && this.#idAt(index) === id) return false;
    this.#plants.splice(index, 0, plant);
    this.#insertId(index, id);
    return true;
  }

  /** Removes the plant with this id. Returns whether the plant existed. */
  remove(id: PlantId): boolean {
    const index = this.#indexOfFirst(id);
    if (index === this.length || this.#idAt(index) !== id) return false;
    this.#ids?.copyWithin(index, index + 1, this.length);
    this.#plants.splice(index, 1);
    return true;
  }

  /** Returns up to `limit` plants with an id of at least `from`. Returns the stored objects, not copies. */
  slice(from: PlantId, limit: number): StoredPlant[] {
    const index = this.#indexOfFirst(from);
    return this.#plants.slice(index, index + limit);
  }

  /** Moves the second half of the plants to a new chunk and returns this chunk. */
  split(): PlantChunk {
    const { length } = this;
    const middle = length >> 1;
    const rest = new PlantChunk();
    rest.#plants.push(...this.#plants.splice(middle));
    rest.#ids = this.#ids?.slice(middle, length);
    this.#ids = this.#ids?.slice(0, middle);
    return rest;
  }

  /** Returns the index of the first plant with an id of at least `id`, or the number of plants if there is none. */
  #indexOfFirst(id: PlantId): number {
    return this.#ids === undefined ? searchPlants(this.#plants, id) : searchIds(this.#ids, this.length, id);
  }

  #idAt(index: number): PlantId | undefined {
    return this.#ids === undefined ? this.#plants[index]?.id : this.#ids[index];
  }

  /** Inserts the id of a plant that has just been inserted at the same index. */
  #insertId(index: number, id: PlantId): void {
    const { length } = this;
    if (this.#ids === undefined) {
      if (length > maxPlantsWithoutIds) this.#ids = BigInt64Array.from(this.#plants, (plant) => plant.id);
      return;
    }
    if (length > this.#ids.length) {
      const larger = new BigInt64Array(2 * length);
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids.copyWithin(index + 1, index, length - 1);
    this.#ids[index] = id;
  }
}

/** Returns the index of the first plant with an id of at least `id`, or the number of plants if there is none. */
function searchPlants(plants: readonly StoredPlant[], id: PlantId): number {
  const index = plants.findIndex((plant) => plant.id >= id);
  return index === -1 ? plants.length : index;
}

/** Searches the first `length` ids. Returns the index of the first one that is at least `id`, otherwise `length`. */
function searchIds(ids: BigInt64Array, length: number, id: PlantId): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = ids[middle];
    if (found !== undefined && found < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
