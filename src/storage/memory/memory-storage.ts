import { PlantStoreError } from '../../core/model/errors.ts';
import { countInPage, cutPage, maxPageLength } from '../../core/page.ts';
import { SortedPlants } from './sorted-plants.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';

/**
 * Stores plants in memory, for tests and temporary data. Closing the adapter deletes the plants.
 *
 * @example
 * const store = new PlantStore({ storage: new MemoryStorage() });
 */
export class MemoryStorage implements StorageAdapter {
  readonly #plantsByUser = new Map<string, SortedPlants>();
  #isClosed = false;

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#refuseIfClosed();
    return writes.map((write) => this.#apply(write));
  }

  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.#refuseIfClosed();
    const found = this.#plantsByUser.get(user)?.slice(after, limit + 1) ?? [];
    const { plants, hasMore } = cutPage(found, limit);
    return { plants: plants.map((plant) => ({ ...plant })), hasMore };
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    this.#refuseIfClosed();
    const found: OwnedPlant[] = [];
    const nextPage = (): OwnedPlant[] => found.splice(0, countInPage(found.map(({ plant }) => plant)));
    // The users are copied, because a user who is removed and added again would otherwise be visited twice.
    for (const user of [...this.#plantsByUser.keys()]) {
      let range: ListRange | undefined = { after: undefined, limit: maxPageLength };
      while (range !== undefined) {
        const { plants, hasMore }: PlantPage = await this.list(user, range);
        for (const plant of plants) found.push({ user, plant });
        while (found.length >= maxPageLength) yield nextPage();
        range = hasMore ? { ...range, after: plants.at(-1)?.id } : undefined;
      }
    }
    while (found.length > 0) yield nextPage();
  }

  dataVersion(): number {
    // Only this adapter can change its plants.
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#plantsByUser.clear();
  }

  #apply(write: Write): boolean {
    const { user } = write;
    const plants = this.#plantsByUser.get(user) ?? new SortedPlants();
    const isChanged = write.kind === 'create' ? plants.add({ ...write.plant }) : plants.remove(write.id);
    if (plants.isEmpty) this.#plantsByUser.delete(user);
    else this.#plantsByUser.set(user, plants);
    return isChanged;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new PlantStoreError('closed');
  }
}
