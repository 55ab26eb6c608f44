// A custom storage adapter. The file own-adapter.test.ts tests it.
import { PlantStoreError } from 'plant-store';
import type { ListRange, OwnedPlant, PlantKey, PlantPage, ScanRange, StorageAdapter, Write } from 'plant-store';

const keyOf = ({ user, plant }: OwnedPlant): PlantKey => ({ user, id: plant.id });
const compare = (a: PlantKey, b: PlantKey): number =>
  Buffer.compare(Buffer.from(a.user), Buffer.from(b.user)) || (a.id < b.id ? -1 : Number(a.id > b.id));

/** Stores plants in a Map. A commit changes a copy of the Map, so that no batch is applied only in part. */
export class MapStorage implements StorageAdapter {
  #plants: Map<string, OwnedPlant> | undefined = new Map();

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const plants = new Map(this.#open());
    const outcomes = writes.map((write) => {
      const key = JSON.stringify([write.user, String(write.kind === 'delete' ? write.id : write.plant.id)]);
      if (write.kind === 'delete') return plants.delete(key);
      if (plants.has(key)) return false;
      plants.set(key, { user: write.user, plant: { ...write.plant } });
      return true;
    });
    this.#plants = plants;
    return outcomes;
  }

  async list(user: string, { after = -(2n ** 63n) - 1n, limit }: ListRange): Promise<PlantPage> {
    const page = await this.scan({ after: { user, id: after }, limit: limit + 1 });
    const plants = page.filter((owned) => owned.user === user).map(({ plant }) => plant);
    return { plants: plants.slice(0, limit), hasMore: plants.length > limit };
  }

  async scan({ after, limit }: ScanRange): Promise<OwnedPlant[]> {
    const isAfter = (owned: OwnedPlant): boolean => after === undefined || compare(keyOf(owned), after) > 0;
    const rest = [...this.#open().values()].filter(isAfter).sort((a, b) => compare(keyOf(a), keyOf(b)));
    return rest.slice(0, limit).map(({ user, plant }) => ({ user, plant: { ...plant } }));
  }

  async close(): Promise<void> {
    this.#plants = undefined;
  }

  #open(): Map<string, OwnedPlant> {
    if (this.#plants === undefined) throw new PlantStoreError('closed');
    return this.#plants;
  }
}
