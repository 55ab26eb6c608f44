import { PlantStoreError } from '../errors.ts';
import type { StoredPlant } from '../plant.ts';
import { maxPageText, textLength } from './page-bounds.ts';
import { SortedPlants } from './sorted-plants.ts';
import type { CreateWrite, DeleteWrite, ListRange, StorageAdapter, Write } from './storage-adapter.ts';

/** Keeps plants in this process's memory: for tests and throw-away state. Gone once closed. */
export class MemoryStorage implements StorageAdapter {
  readonly #plantsByUser = new Map<string, SortedPlants>();
  #isClosed = false;

  /** See {@link StorageAdapter}. */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    return writes.map((write) => (write.kind === 'create' ? this.#create(write) : this.#delete(write)));
  }

  /** See {@link StorageAdapter}. */
  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    this.#refuseIfClosed();
    const page: StoredPlant[] = [];
    let text = 0;
    for (const plant of this.#plantsByUser.get(user)?.slice(after, limit) ?? []) {
      page.push({ ...plant });
      text += textLength(plant);
      if (text >= maxPageText) break;
    }
    return page;
  }

  /** See {@link StorageAdapter}: nobody else can change it. */
  dataVersion(): number {
    return 0;
  }

  /** See {@link StorageAdapter}. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#plantsByUser.clear();
  }

  #create({ user, plant }: CreateWrite): boolean {
    let plants = this.#plantsByUser.get(user);
    if (plants === undefined) {
      plants = new SortedPlants();
      this.#plantsByUser.set(user, plants);
    }
    return plants.add({ ...plant });
  }

  #delete({ user, id }: DeleteWrite): boolean {
    const plants = this.#plantsByUser.get(user);
    const wasThere = plants?.remove(id) ?? false;
    if (plants?.isEmpty) this.#plantsByUser.delete(user);
    return wasThere;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}
