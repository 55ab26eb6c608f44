// A custom storage adapter. The file own-adapter.test.ts tests it.
import { PlantStoreError } from 'plant-store';
import type { StorageAdapter } from 'plant-store';
import type { ListRange, OwnedPlant, PlantPage, Write } from 'plant-store';

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

  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    const plants = [...this.#open().values()]
      .filter((owned) => owned.user === user && (after === undefined || owned.plant.id > after))
      .map(({ plant }) => ({ ...plant }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return { plants: plants.slice(0, limit), hasMore: plants.length > limit };
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    const all = [...this.#open().values()];
    for (let at = 0; at < all.length; at += 1000) {
      yield all.slice(at, at + 1000).map(({ user, plant }) => ({ user, plant: { ...plant } }));
    }
  }

  async close(): Promise<void> {
    this.#plants = undefined;
  }

  #open(): Map<string, OwnedPlant> {
    if (this.#plants === undefined) throw new PlantStoreError('closed');
    return this.#plants;
  }
}
