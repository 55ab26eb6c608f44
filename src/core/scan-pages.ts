import { minInt64 } from './model/plant.ts';
import type { PlantId } from './model/plant.ts';
import { countInPage } from './page.ts';
import type { OwnedPlant } from './storage-adapter.ts';

/** Scans a storage sorted by user and id. `read` returns the plants after a key: all, or at least a full page. */
export async function* scanPages(
  read: (user: string, after: PlantId) => OwnedPlant[] | Promise<OwnedPlant[]>,
): AsyncGenerator<OwnedPlant[], void, undefined> {
  // Every user is greater than ''.
  for (let [user, after] = ['', minInt64]; ;) {
    const found = await read(user, after);
    const page = found.slice(0, countInPage(found.map(({ plant }) => plant)));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    [user, after] = [last.user, last.plant.id];
  }
}
