import type { PlantId, StoredPlant } from '../../model/plant.ts';

/** A full chunk is split in two. 512 keeps an insertion at a million plants to a few microseconds. */
const maxChunkLength = 512;

/** Plants in ascending id: a sorted array cut into short chunks, so that inserting stays cheap. */
export class SortedPlants {
  /** Never an empty chunk. */
  readonly #chunks: StoredPlant[][] = [];

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Adds the plant unless its id is there; says whether it did. */
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

  /** Removes the plant with this id; says whether it was there. */
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

  /** Up to `limit` plants with an id greater than `after`; the objects are the kept ones. */
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

  /** The chunk that holds or would hold `id`: the last one that does not begin above it. */
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

/** The index of the first plant with an id of at least `id`. */
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
