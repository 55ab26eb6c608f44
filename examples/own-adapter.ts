// A custom storage adapter. The file own-adapter.test.ts tests it.
import { PlantStoreError } from 'plant-store';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from 'plant-store';

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
      .sort((a, b) => (a.plant.id < b.plant.id ? -1 : 1));
    const page = firstPage(found, limit);
    return { plants: page.map(({ plant }) => plant), hasMore: page.length < found.length };
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    const rest = [...this.#open().values()];
    while (rest.length > 0) yield rest.splice(0, firstPage(rest, 1000).length).map((owned) => structuredClone(owned));
  }

  async close(): Promise<void> {
    this.#plants = undefined;
  }

  #open(): Map<string, OwnedPlant> {
    if (this.#plants === undefined) throw new PlantStoreError('closed');
    return this.#plants;
  }
}

/** Returns copies of the first plants, until the limit or about 256 KiB is reached. */
function firstPage(plants: OwnedPlant[], limit: number): OwnedPlant[] {
  let size = 0;
  const isFull = ({ plant }: OwnedPlant): boolean => (size += plant.name.length + (plant.tag ?? '').length) > 250_000;
  const end = plants.slice(0, limit).findIndex(isFull);
  return structuredClone(plants.slice(0, end === -1 ? limit : Math.max(1, end)));
}
