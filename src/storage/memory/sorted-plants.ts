import { minInt64 } from '../../core/model/int64.ts';
import type { PlantId, StoredPlant } from '../../core/model/plant.ts';
import { PlantChunk } from './plant-chunk.ts';

/** The maximum number of plants in a chunk. If a chunk becomes longer, it is split in two. */
const maxChunkLength = 512;

/**
 * Keeps plants in ascending order of id. The plants are divided into short sorted arrays, called chunks, so that an
 * insertion moves only a few plants.
 */
export class SortedPlants {
  /** The chunks, in ascending order of id. A chunk is never empty. */
  readonly #chunks: PlantChunk[] = [];

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** Adds a plant, unless a plant with the same id exists. Returns whether the plant was added. */
  add(plant: StoredPlant): boolean {
    if (this.isEmpty) this.#chunks.push(new PlantChunk());
    const chunkIndex = this.#chunkIndexFor(plant.id);
    const chunk = this.#chunks[chunkIndex];
    if (chunk?.add(plant) !== true) return false;
    if (chunk.length > maxChunkLength) this.#chunks.splice(chunkIndex + 1, 0, chunk.split());
    return true;
  }

  /** Removes the plant with this id. Returns whether the plant existed. */
  remove(id: PlantId): boolean {
    const chunkIndex = this.#chunkIndexFor(id);
    const chunk = this.#chunks[chunkIndex];
    if (chunk?.remove(id) !== true) return false;
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);
    return true;
  }

  /** Returns up to `limit` plants with an id greater than `after`. Returns the stored objects, not copies. */
  slice(after: PlantId | undefined, limit: number): StoredPlant[] {
    const found: StoredPlant[] = [];
    const from = after === undefined ? minInt64 : after + 1n;
    for (let chunkIndex = this.#chunkIndexFor(from); found.length < limit; chunkIndex++) {
      const chunk = this.#chunks[chunkIndex];
      if (chunk === undefined) break;
      found.push(...chunk.slice(from, limit - found.length));
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
      const first = this.#chunks[middle]?.firstId;
      if (first !== undefined && first <= id) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
