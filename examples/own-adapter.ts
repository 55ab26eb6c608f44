// A custom storage adapter. The file own-adapter.test.ts tests it.
import { PlantStoreError } from 'plant-store';
import type { ListRange, OwnedPlant, Plant, PlantPage, StorageAdapter, Write } from 'plant-store';

/** Stores plants in a Map. A commit changes a copy of the Map, so that no batch is applied only in part. */
export class MapStorage implements StorageAdapter {
  readonly #Map: typeof Map<string, OwnedPlant>;
  #plants: Map<string, OwnedPlant> | undefined;

  /** A test can pass a subclass of Map whose methods fail. */
  constructor(PlantMap: typeof Map<string, OwnedPlant> = Map) {
    this.#Map = PlantMap;
    this.#plants = new PlantMap();
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const plants = new this.#Map(this.#open());
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
    const found = [...this.#open().values()]
      .filter((owned) => owned.user === user && (after === undefined || owned.plant.id > after))
      .map(({ plant }) => ({ ...plant }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const plants = found.slice(0, Math.min(limit, countInPage(found)));
    return { plants, hasMore: plants.length < found.length };
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    let rest = [...this.#open().values()];
    while (rest.length > 0) {
      const page = rest.slice(0, countInPage(rest.map(({ plant }) => plant)));
      yield structuredClone(page);
      rest = rest.slice(page.length);
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

/** Returns how many plants fit in a page: at least one, and at most 1000 plants or about 256 KiB. */
function countInPage(plants: readonly Plant[]): number {
  let size = 0;
  const full = plants.slice(0, 1000).findIndex(({ name, tag = '' }) => (size += name.length + tag.length) > 250_000);
  return full === -1 ? Math.min(plants.length, 1000) : Math.max(1, full);
}
