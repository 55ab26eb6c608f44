import { minInt64 } from '../core/model/int64.ts';
import type { Plant } from '../core/model/plant.ts';
import { compareOwned } from '../core/key-order.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';

/** The minimum number of plants that a read requests. */
const minReadPlants = 16;

/** Returns the key of a plant as a string. */
export function keyOf({ user, plant }: OwnedPlant): string {
  return `${plant.id} ${user}`;
}

/**
 * Reads the stored plants that have the same keys as the plants in `wanted`. The plants in `wanted` must be in
 * ascending order of their keys. Returns a map whose keys are those of {@link keyOf}. The map also contains other
 * plants that were read.
 *
 * Each read starts at the first remaining plant and also returns the plants after it, because they are often wanted,
 * too. Each further read requests fewer plants. A thousand consecutive plants require one read, and a few plants
 * scattered among millions of others require one short read each.
 */
export async function findPlants(
  storage: StorageAdapter,
  wanted: readonly OwnedPlant[],
): Promise<ReadonlyMap<string, Plant>> {
  const found = new Map<string, Plant>();
  let remaining = wanted;
  let limit = wanted.length;
  for (let first; (first = remaining[0]) !== undefined;) {
    const page = await readFrom(storage, first, limit);
    for (const owned of page) found.set(keyOf(owned), owned.plant);
    const last = page.at(-1);
    remaining = remaining.slice(1).filter((owned) => last === undefined || compareOwned(owned, last) > 0);
    limit = Math.max(limit >> 2, minReadPlants);
  }
  return found;
}

/** Reads at most `limit` stored plants, starting at the key of the given plant. */
async function readFrom(
  storage: StorageAdapter,
  { user, plant: { id } }: OwnedPlant,
  limit: number,
): Promise<OwnedPlant[]> {
  if (id !== minInt64) return storage.scan({ after: { user, id: id - 1n }, limit });
  // `scan` cannot be used, because it returns only the plants after a key. A user has no key before the smallest int64.
  const { plants } = await storage.list(user, { after: undefined, limit: 1 });
  return plants.map((plant) => ({ user, plant }));
}
