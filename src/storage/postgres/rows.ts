import type { PlantId, StoredPlant } from '../../model/plant.ts';
import { fullPageEnd, maxPageBytes, maxPageLength } from '../page-bounds.ts';
import type { OwnedPlant } from '../storage-adapter.ts';
import type { PlantRow } from './statements.ts';

/**
 * Returns up to `count` rows that follow the plant `last`. If a plant is larger than `maxSize` bytes, its row contains
 * no name and no tag.
 */
type ReadRows = (last: OwnedPlant | undefined, count: number, maxSize: number) => Promise<PlantRow[]>;

/** Reads plants, at most 1000 at a time, until the limit is reached, the page is full, or no plants are left. */
export async function readPlants(limit: number, read: ReadRows): Promise<OwnedPlant[]> {
  const plants: OwnedPlant[] = [];
  while (plants.length < limit) {
    let count = Math.min(maxPageLength, limit - plants.length);
    let maxSize = Math.floor((3 * maxPageBytes) / count);
    let rows = await read(plants.at(-1), count, maxSize);
    while (rows.some(({ size }) => Number(size) > maxSize)) {
      // The names and tags of all these plants may need too much memory, so this reads only the plants that fit in a
      // page.
      const sizes = rows.map(({ size }) => Number(size));
      count = countInPage(sizes);
      maxSize = Math.max(...sizes.slice(0, count));
      rows = await read(plants.at(-1), count, maxSize);
    }
    plants.push(...rows.map(ownedPlantOf));
    const end = fullPageEnd(plants.map(({ plant }) => plant));
    if (end !== undefined) return plants.slice(0, end);
    if (rows.length < count) break;
  }
  return plants;
}

/**
 * Returns how many plants fit in a page, including the plant that fills the page. `sizes` are the plants' minimum
 * sizes.
 */
function countInPage(sizes: readonly number[]): number {
  let bytes = 0;
  const full = sizes.findIndex((size) => (bytes += size) >= maxPageBytes);
  return full === -1 ? sizes.length : full + 1;
}

function ownedPlantOf({ user, id, name, tag }: PlantRow): OwnedPlant {
  const plantId: PlantId = BigInt(id);
  const plant: StoredPlant = { id: plantId, name: name ?? '' };
  return { user, plant: tag === null ? plant : { ...plant, tag } };
}
