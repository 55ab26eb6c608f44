import type { PlantId, Plant } from '../../core/model/plant.ts';
import { firstId } from '../../core/page.ts';

/** A longer chunk is split in two. */
const maxChunkLength = 512;

/** Keeps plants sorted by id in short arrays, called chunks, so that an insertion moves only a few plants. */
export class SortedPlants {
  /** The chunks, in ascending order of id. Without plants, there is one empty chunk; otherwise, no chunk is empty. */
  readonly #chunks: Plant[][] = [[]];

  get isEmpty(): boolean {
    return this.#chunks[0]?.length === 0;
  }

  add(plant: Plant): boolean {
    const { chunk, chunkIndex, index } = this.#find(plant.id);
    if (chunk[index]?.id === plant.id) return false;
    chunk.splice(index, 0, plant);
    if (chunk.length > maxChunkLength) this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(maxChunkLength >> 1));
    return true;
  }

  remove(id: PlantId): boolean {
    const { chunk, chunkIndex, index } = this.#find(id);
    if (chunk[index]?.id !== id) return false;
    chunk.splice(index, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(chunkIndex, 1);
    return true;
  }

  /** Returns the stored objects, not copies. */
  slice(after: PlantId | undefined, limit: number): Plant[] {
    const { chunk, chunkIndex, index } = this.#find(firstId(after));
    const found = chunk.slice(index, index + limit);
    for (const next of this.#chunks.slice(chunkIndex + 1)) {
      if (found.length === limit) break;
      found.push(...next.slice(0, limit - found.length));
    }
    return found;
  }

  /** `index` is the position of the plant in the chunk, or the position at which to insert it. */
  #find(id: PlantId): { chunk: Plant[]; chunkIndex: number; index: number } {
    const following = lowerBound(this.#chunks, (chunk) => (chunk[0]?.id ?? id) <= id);
    const chunkIndex = Math.max(following - 1, 0);
    const chunk = this.#chunks[chunkIndex] ?? [];
    return { chunk, chunkIndex, index: lowerBound(chunk, (plant) => plant.id < id) };
  }
}

/** Returns the index of the first item for which `isBefore` is `false`, or the length. The items must be sorted. */
function lowerBound<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
