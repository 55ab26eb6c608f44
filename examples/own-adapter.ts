// A storage adapter of your own, proven by the shipped suite:
// npm run build && npm exec -- tsx --test examples/own-adapter.ts
import { PlantStoreError } from 'plant-store';
import type { ListRange, StorageAdapter, StoredPlant, Write } from 'plant-store';
import { testStorageAdapter } from 'plant-store/testing';

type PlantMap = Map<string, { user: string; plant: StoredPlant }>;

/** Keeps plants in a Map: the shortest adapter there is. It sorts at every list; MemoryStorage does not. */
class MapStorage implements StorageAdapter {
  #plants: PlantMap | undefined = new Map();

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const plants = this.#open();
    return writes.map((write) => {
      if (write.kind === 'delete') return plants.delete(JSON.stringify([write.user, String(write.id)]));
      const { user, plant } = write;
      const key = JSON.stringify([user, String(plant.id)]);
      if (plants.has(key)) return false;
      plants.set(key, { user, plant: { ...plant } });
      return true;
    });
  }

  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    return [...this.#open().values()]
      .filter((entry) => entry.user === user && (after === undefined || entry.plant.id > after))
      .sort((a, b) => (a.plant.id < b.plant.id ? -1 : 1))
      .slice(0, limit)
      .map(({ plant }) => ({ ...plant }));
  }

  async close(): Promise<void> {
    this.#plants = undefined;
  }

  #open(): PlantMap {
    if (this.#plants === undefined) throw new PlantStoreError('closed');
    return this.#plants;
  }
}

testStorageAdapter('MapStorage', { makePlace: () => ({ open: () => new MapStorage() }), isShared: false });
