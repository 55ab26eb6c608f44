import { minInt64 } from '../core/model/int64.ts';
import type { Plant, PlantId } from '../core/model/plant.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';

const minReadPlants = 16;

/** With more concurrent reads, the wait for a connection of a pool could time out. */
const maxReads = 4;

export function keyOf({ user, plant }: OwnedPlant): string {
  return `${plant.id} ${user}`;
}

/** Returns the stored plants that have the keys of `wanted`, and possibly others, in a map keyed by {@link keyOf}. */
export async function findPlants(
  storage: StorageAdapter,
  wanted: readonly OwnedPlant[],
): Promise<ReadonlyMap<string, Plant>> {
  const found = new Map<string, Plant>();
  const users = Map.groupBy(wanted, ({ user }) => user).entries();
  const readUsers = async (): Promise<void> => {
    for (const [user, owned] of users) {
      const ids = owned.map(({ plant }) => plant.id).sort((a, b) => (a < b ? -1 : 1));
      for await (const plant of readFrom(storage, user, ids)) found.set(keyOf({ user, plant }), plant);
    }
  };
  await Promise.all(Array.from({ length: maxReads }, readUsers));
  return found;
}

/** `ids` must be sorted. Consecutive ids require one read. A few ids among many plants require one short read each. */
async function* readFrom(storage: StorageAdapter, user: string, ids: readonly PlantId[]): AsyncIterable<Plant> {
  let remaining = ids;
  let limit = ids.length;
  for (let first; (first = remaining[0]) !== undefined; limit = Math.max(limit >> 2, minReadPlants)) {
    const after = first === minInt64 ? undefined : first - 1n;
    const { plants } = await storage.list(user, { after, limit });
    yield* plants;
    const last = plants.at(-1)?.id;
    if (last === undefined) return;
    remaining = remaining.slice(1).filter((id) => id > last);
  }
}
