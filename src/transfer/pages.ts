import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxPageLength } from '../core/page.ts';
import type { OwnedPlant, PlantKey, StorageAdapter } from '../core/storage-adapter.ts';

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

/** Processes pages in order, one at a time. Reads the next page while the current one is being processed. */
export async function forEachPage<Page>(
  pages: AsyncIterable<Page>,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const iterator = pages[Symbol.asyncIterator]();
  let next = await iterator.next();
  while (next.done !== true) {
    const processing = work(next.value);
    // The next page is read one event loop iteration later, so that `work` sends its request before a synchronous read
    // blocks the event loop.
    const reading = nextTurn().then(() => iterator.next());
    [next] = await Promise.all([reading, processing]);
  }
}
