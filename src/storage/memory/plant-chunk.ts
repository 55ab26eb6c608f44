import type { PlantId, StoredPlant } from '../../model/plant.ts';

const minCapacity = 4;

/**
 * A short sorted array of plants, in ascending order of id. The ids are also stored in an array of their own, because a
 * binary search that follows the references to plants and ids misses the CPU cache at almost every step: in a list of
 * 600,000 plants, adding one takes 0.9 µs instead of 2.4 µs.
 */
export class PlantChunk {
  /** The ids of the plants. The rest of the array is unused. */
  #ids = new BigInt64Array(minCapacity);
  readonly #plants: StoredPlant[] = [];

  get length(): number {
    return this.#plants.length;
  }

  /** The smallest id; 0 if the chunk is empty. */
  get firstId(): PlantId {
    return this.#ids[0] ?? 0n;
  }

  /** Adds a plant, unless a plant with the same id exists. Returns whether the plant was added. */
  add(plant: StoredPlant): boolean {
    const { id } = plant;
    const { length } = this;
    const index = this.#indexOfFirst(id);
    if (index < length && this.#ids[index] === id) return false;
    if (length === this.#ids.length) this.#grow(2 * length);
    this.#ids.copyWithin(index + 1, index, length);
    this.#ids[index] = id;
    this.#plants.splice(index, 0, plant);
    return true;
  }

  /** Removes the plant with this id. Returns whether the plant existed. */
  remove(id: PlantId): boolean {
    const index = this.#indexOfFirst(id);
    if (index === this.length || this.#ids[index] !== id) return false;
    this.#ids.copyWithin(index, index + 1, this.length);
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
    const middle = this.length >> 1;
    const rest = new PlantChunk();
    rest.#grow(this.#ids.length);
    rest.#ids.set(this.#ids.subarray(middle, this.length));
    rest.#plants.push(...this.#plants.splice(middle));
    return rest;
  }

  /** Returns the index of the first plant with an id of at least `id`, or the number of plants if there is none. */
  #indexOfFirst(id: PlantId): number {
    const ids = this.#ids;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = ids[middle];
      if (found !== undefined && found < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(capacity: number): void {
    const ids = new BigInt64Array(capacity);
    ids.set(this.#ids);
    this.#ids = ids;
  }
}
