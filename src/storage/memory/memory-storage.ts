import { PlantStoreError } from '../../core/model/errors.ts';
import { compareUsers } from '../../core/key-order.ts';
import { countInPage } from '../../core/page.ts';
import { SortedPlants } from './sorted-plants.ts';
import type {
  CreateWrite,
  DeleteWrite,
  ListRange,
  OwnedPlant,
  PlantPage,
  ScanRange,
  StorageAdapter,
  Write,
} from '../../core/storage-adapter.ts';

/**
 * Stores plants in memory, for tests and temporary data. Closing the adapter deletes the plants.
 *
 * @example
 * const store = new PlantStore({ storage: new MemoryStorage() });
 */
export class MemoryStorage implements StorageAdapter {
  readonly #plantsByUser = new Map<string, SortedPlants>();
  /**
   * The users in the order of `scan`. Adding or removing a user sets this field to `undefined`, so the next scan sorts
   * the users again.
   */
  #sortedUsers: string[] | undefined;
  #isClosed = false;

  /** See {@link StorageAdapter}. */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    // All writes are copied before the first write is applied. Only the copying can fail, for example if a getter
    // throws, so a failed batch changes nothing.
    return writes.map(copyOf).map((write) => (write.kind === 'create' ? this.#create(write) : this.#delete(write)));
  }

  /** See {@link StorageAdapter}. */
  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.#refuseIfClosed();
    const found = this.#plantsByUser.get(user)?.slice(after, limit + 1) ?? [];
    const plants = found.slice(0, Math.min(limit, countInPage(found))).map((plant) => ({ ...plant }));
    return { plants, hasMore: plants.length < found.length };
  }

  /** See {@link StorageAdapter}. */
  async scan({ after, limit }: ScanRange): Promise<OwnedPlant[]> {
    this.#refuseIfClosed();
    const page: OwnedPlant[] = [];
    this.#sortedUsers ??= [...this.#plantsByUser.keys()].sort(compareUsers);
    for (const user of this.#sortedUsers) {
      if (after !== undefined && compareUsers(user, after.user) < 0) continue;
      const afterId = user === after?.user ? after.id : undefined;
      for (const plant of this.#plantsByUser.get(user)?.slice(afterId, limit - page.length) ?? []) {
        page.push({ user, plant: { ...plant } });
      }
      if (page.length === limit) break;
    }
    return page.slice(0, countInPage(page.map(({ plant }) => plant)));
  }

  /**
   * See {@link StorageAdapter}. The version never changes, because only this adapter's `commit` can change the plants.
   */
  dataVersion(): number {
    return 0;
  }

  /** See {@link StorageAdapter}. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#plantsByUser.clear();
    this.#sortedUsers = undefined;
  }

  #create({ user, plant }: CreateWrite): boolean {
    let plants = this.#plantsByUser.get(user);
    if (plants === undefined) {
      plants = new SortedPlants();
      this.#plantsByUser.set(user, plants);
      this.#sortedUsers = undefined;
    }
    return plants.add(plant);
  }

  #delete({ user, id }: DeleteWrite): boolean {
    const plants = this.#plantsByUser.get(user);
    const existed = plants?.remove(id) ?? false;
    if (plants?.isEmpty) {
      this.#plantsByUser.delete(user);
      this.#sortedUsers = undefined;
    }
    return existed;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}

function copyOf(write: Write): Write {
  return write.kind === 'create' ? { ...write, plant: { ...write.plant } } : { ...write };
}
