import { PlantStoreError } from '../../core/model/errors.ts';
import type { Plant, PlantId } from '../../core/model/plant.ts';
import { countInPage, cutPage, maxPageLength } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';

/**
 * Stores plants in memory, for tests and temporary data. Closing the adapter deletes the plants.
 *
 * @example
 * const store = new PlantStore({ storage: new MemoryStorage() });
 */
export class MemoryStorage implements StorageAdapter {
  readonly #plantsByUser = new Map<string, Map<PlantId, Plant>>();
  /**
   * The plants of users that were listed, in ascending order of id. A delete removes the user's entry, and the next
   * list sorts the plants again.
   */
  readonly #sorted = new Map<string, Plant[]>();
  #isClosed = false;

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    return writes.map((write) => this.#apply(write));
  }

  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.#refuseIfClosed();
    const sorted = this.#sort(user);
    const start = after === undefined ? 0 : countUpTo(after, sorted);
    const { plants, hasMore } = cutPage(sorted.slice(start, start + limit + 1), limit);
    return { plants: plants.map((plant) => ({ ...plant })), hasMore };
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    this.#refuseIfClosed();
    const users = [...this.#plantsByUser];
    const stored = users.flatMap(([user, plants]) => Array.from(plants.values(), (plant) => ({ user, plant })));
    for (let at = 0; at < stored.length;) {
      this.#refuseIfClosed();
      const found = stored.slice(at, at + maxPageLength);
      const page = found.slice(0, countInPage(found.map(({ plant }) => plant)));
      yield page.map(({ user, plant }) => ({ user, plant: { ...plant } }));
      at += page.length;
    }
  }

  dataVersion(): number {
    // Only this adapter can change its plants.
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#plantsByUser.clear();
    this.#sorted.clear();
  }

  #apply(write: Write): boolean {
    const { user } = write;
    const plants = this.#plantsByUser.get(user) ?? new Map<PlantId, Plant>();
    if (write.kind === 'delete') {
      this.#sorted.delete(user);
      const isDeleted = plants.delete(write.id);
      if (plants.size === 0) this.#plantsByUser.delete(user);
      return isDeleted;
    }
    if (plants.has(write.plant.id)) return false;
    const plant = { ...write.plant };
    this.#plantsByUser.set(user, plants.set(plant.id, plant));
    // If the plants are already sorted, the next list need not sort them again.
    const sorted = this.#sorted.get(user);
    sorted?.splice(countUpTo(plant.id, sorted), 0, plant);
    return true;
  }

  #sort(user: string): readonly Plant[] {
    let sorted = this.#sorted.get(user);
    if (sorted === undefined) {
      const plants = this.#plantsByUser.get(user)?.values() ?? [];
      sorted = [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
      if (sorted.length > 0) this.#sorted.set(user, sorted);
    }
    return sorted;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}

/** Returns the number of plants with at most this id, by binary search. */
function countUpTo(id: PlantId, sorted: readonly Plant[]): number {
  let start = 0;
  for (let end = sorted.length; start < end;) {
    const middle = (start + end) >> 1;
    if ((sorted[middle]?.id ?? id) <= id) start = middle + 1;
    else end = middle;
  }
  return start;
}
