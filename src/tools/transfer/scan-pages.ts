import { maxPageLength } from '../../storage/page.ts';
import type { OwnedPlant, PlantKey, StorageAdapter } from '../../storage/storage-adapter.ts';

/** Yields all plants in a storage adapter, page by page, ordered by user and then by id. */
export async function* scanPages(storage: StorageAdapter): AsyncGenerator<OwnedPlant[], void, undefined> {
  for (let after: PlantKey | undefined; ;) {
    const page = await storage.scan({ after, limit: maxPageLength });
    const last = page.at(-1);
    if (last === undefined) return;
    after = { user: last.user, id: last.plant.id };
    yield page;
  }
}
