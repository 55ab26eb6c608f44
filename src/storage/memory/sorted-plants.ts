import type { PlantId, StoredPlant } from '../../model/plant.ts';

/**
 * The maximum number of plants in a chunk. If a chunk becomes longer, it is split in two. With this maximum, adding a
 * plant to a million others takes a few microseconds.
 */
const maxChunkLength = 512;

/**
 * Keeps plants in ascending order of id. The plants are divided into short sorted arrays, called chunks, so that an
 * insertion moves only a few plants.
 */
export class SortedPlants {
  /** The chunks, in ascending order of id. A chunk is never empty. */
  readonly #chunks: StoredPlant[][] = [];

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Adds a plant, unless a plant with the same id exists. Returns whether the plant was added. */
  add(plant: StoredPlant): boolean {
    const chunkIndex = this.#chunkIndexFor(plant.id);
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) {
      this.#chunks.push([plant]);
      return true;
    }
    const index = firstNotBelow(chunk, plant.id);
    if (chunk[index]?.id === plant.id) return false;
    chunk.splice(index, 0, plant);
    if (chunk.length > maxChunkLength) {
      this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(maxChunkLength / 2));
    }
    return true;
  }

  /** Removes the plant with this id. Returns whether the plant existed. */
  remove(id: PlantId): boolean {
    const chunkIndex = this.#chunkIndexFor(id);
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) return false;
    const index = firstNotBelow(chunk, id);
    if (chunk[index]?.id !== id) return false;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);
    return true;
  }

  /** Returns up to `limit` plants with an id greater than `after`. Returns the stored objects, not copies. */
  slice(after: PlantId | undefined, limit: number): StoredPlant[] {
    const found: StoredPlant[] = [];
    let chunkIndex = after === undefined ? 0 : this.#chunkIndexFor(after);
    for (; chunkIndex < this.#chunks.length && found.length < limit; chunkIndex++) {
      const chunk = this.#chunks[chunkIndex] ?? [];
      const from = after === undefined ? 0 : firstNotBelow(chunk, after + 1n);
      found.push(...chunk.slice(from, from + limit - found.length));
    }
    return found;
  }

  /**
   * Returns the index of the chunk to which `id` belongs: the last chunk whose first id is not greater than `id`. If
   * there is no such chunk, returns 0.
   */
  #chunkIndexFor(id: PlantId): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const first = this.#chunks[middle]?.[0];
      if (first !== undefined && first.id <= id) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Returns the index of the first plant with an id of at least `id`, or the number of plants if there is none. */
function firstNotBelow(plants: readonly StoredPlant[], id: PlantId): number {
  let low = 0;
  let high = plants.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const plant = plants[middle];
    if (plant !== undefined && plant.id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
