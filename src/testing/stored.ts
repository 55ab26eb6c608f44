import type { ListRange, OwnedPlant, PlantPage, Write } from '../core/storage-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import { commitText, expectEqual, listText, rejectionOf } from './expect.ts';
import { ReferenceStore } from './reference-store.ts';

const visible = 'When a commit has resolved, every later call must return its plants, unchanged and in order of id.';

/**
 * Checks that `list`, with this page limit, and `scan` return exactly these plants. `rule` is the rule that the adapter
 * violates if it returns other plants.
 */
export async function expectStored(
  storage: CheckedAdapter,
  plants: ReferenceStore | readonly OwnedPlant[],
  rule: string = visible,
  limit = 1000,
): Promise<void> {
  const stored = plants instanceof ReferenceStore ? plants : new ReferenceStore(plants);
  const due = stored.scan();
  for (const user of new Set([...due.map((owned) => owned.user), 'ada', 'bob', 'nobody'])) {
    let page: PlantPage | undefined;
    do {
      page = await expectList(storage, user, { after: page?.plants.at(-1)?.id, limit }, stored, rule);
    } while (page.hasMore);
  }
  const scanned = new ReferenceStore(await scanAll(storage));
  expectEqual(scanned.scan(), due, `${rule} scan() returned other plants.`);
}

/** Checks a page of `list`. `stored` contains all plants. */
export async function expectList(
  storage: CheckedAdapter,
  user: string,
  range: ListRange,
  stored: ReferenceStore,
  rule: string = visible,
): Promise<PlantPage> {
  const page = await storage.list(user, range);
  const due = stored.list(user, { after: range.after });
  // An adapter may return fewer plants than the limit, but at least one.
  const length = Math.min(Math.max(1, page.plants.length), range.limit);
  const call = listText(user, range);
  expectEqual(page.plants, due.slice(0, length), `${rule} ${call} returned other plants.`);
  expectEqual(page.hasMore, due.length > length, `hasMore must tell whether plants follow the page of ${call}.`);
  return page;
}

export async function scanAll(storage: { scan(): AsyncIterable<OwnedPlant[]> }): Promise<OwnedPlant[]> {
  const found: OwnedPlant[] = [];
  for await (const page of storage.scan()) found.push(...page);
  return found;
}

/** Checks that `commit` rejects a batch that contains the write at which the storage fails. */
export async function expectRejection(storage: CheckedAdapter, batch: readonly Write[]): Promise<void> {
  const hint = 'The storage must fail at this write. If it did not, check makeWriteFail.';
  await rejectionOf(() => storage.commit(batch), `${commitText(batch)} must reject. ${hint}`);
}
