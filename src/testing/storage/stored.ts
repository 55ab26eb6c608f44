import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { expectEqual, shown } from './expect.ts';

const visible = 'When a commit has resolved, every later call must return its plants, unchanged and in order of id.';

/**
 * Checks that `list`, with this page limit, and `scan` return exactly these plants. `rule` is the rule that the adapter
 * violates if it returns other plants.
 */
export async function expectStored(
  storage: StorageAdapter,
  stored: readonly OwnedPlant[],
  { rule = visible, limit = 1000 }: { rule?: string; limit?: number } = {},
): Promise<void> {
  for (const user of new Set([...stored.map((owned) => owned.user), 'ada', 'bob', 'nobody'])) {
    let page: PlantPage | undefined;
    do {
      page = await expectList(storage, user, { after: page?.plants.at(-1)?.id, limit }, stored, rule);
    } while (page.hasMore);
  }
  await expectScan(storage, stored, rule);
}

export async function expectScan(storage: StorageAdapter, stored: readonly OwnedPlant[], rule: string): Promise<void> {
  expectEqual(inOrder(await scanAll(storage)), inOrder(stored), `${rule} scan() returned other plants.`);
}

/** Checks a page of `list`. `stored` contains all plants. */
export async function expectList(
  storage: StorageAdapter,
  user: string,
  range: ListRange,
  stored: readonly OwnedPlant[],
  rule: string = visible,
): Promise<PlantPage> {
  const page = await storage.list(user, range);
  const owned = inOrder(stored.filter((each) => each.user === user)).map(({ plant }) => plant);
  const due = owned.filter(({ id }) => range.after === undefined || id > range.after);
  // An adapter may return fewer plants than the limit, but at least one.
  const length = Math.min(Math.max(1, page.plants.length), range.limit);
  const call = listText(user, range);
  expectEqual(page.plants, due.slice(0, length), `${rule} ${call} returned other plants.`);
  expectEqual(page.hasMore, due.length > length, `hasMore must tell whether plants follow the page of ${call}.`);
  return page;
}

export function listText(user: string, { after, limit }: ListRange): string {
  return `list(${shown(user)}, { after: ${after ?? 'undefined'}, limit: ${limit} })`;
}

export async function scanAll(storage: StorageAdapter): Promise<OwnedPlant[]> {
  const found: OwnedPlant[] = [];
  for await (const page of storage.scan()) found.push(...page);
  return found;
}

/** Checks that a page consists of the first plants of one of the given states, and not of a mixture of them. */
export function expectOneState({ plants, hasMore }: PlantPage, states: readonly OwnedPlant[][], rule: string): void {
  const { length } = plants;
  const isOneState = states.some((state) => {
    const expected = state.slice(0, length).map(({ plant }) => plant);
    return hasMore === length < state.length && isDeepStrictEqual(plants, expected);
  });
  const ids = `${plants[0]?.id ?? ''} to ${plants.at(-1)?.id ?? ''}`;
  assert.ok(length > 0 && isOneState, `${rule} A list returned ${length} plants, with the ids ${ids}.`);
}

function inOrder(plants: readonly OwnedPlant[]): OwnedPlant[] {
  return plants.toSorted(
    (a, b) => (a.user === b.user ? Number(a.plant.id > b.plant.id) : Number(a.user > b.user)) || -1,
  );
}

/** Checks that `commit` rejects a batch that contains a failing write. */
export async function expectRejection(storage: StorageAdapter, batch: readonly Write[]): Promise<void> {
  const rule = 'commit must reject if the storage fails at a write, or if a write cannot be read.';
  await assert.rejects(storage.commit(batch), `${rule} If it should have failed, check makeWriteFail.`);
}
