import { isDeepStrictEqual } from 'node:util';
import type { ListRange, OwnedPlant, PlantPage, Write } from '../../core/storage-adapter.ts';
import { ContractError, expect, expectEqual } from './expect.ts';
import { idOf } from './plants.ts';
import { listText, Rejection } from './tested-adapter.ts';
import type { TestedAdapter } from './tested-adapter.ts';

const visible = 'When a commit has resolved, every later call must return its plants, unchanged and in order of id.';

/**
 * Checks that `list`, with this page limit, and `scan` return exactly these plants. `rule` is the rule that the adapter
 * violates if it returns other plants.
 */
export async function expectStored(
  storage: TestedAdapter,
  stored: readonly OwnedPlant[],
  { rule = visible, limit = 1000 }: { rule?: string; limit?: number } = {},
): Promise<void> {
  for (const user of new Set([...stored.map((owned) => owned.user), 'ada', 'bob', 'nobody'])) {
    let page: PlantPage | undefined;
    do {
      page = await expectList(storage, user, { after: page?.plants.at(-1)?.id, limit }, stored, rule);
    } while (page.hasMore);
  }
  expectEqual(inOrder(await storage.scan()), inOrder(stored), `${rule} scan() returned other plants.`);
}

/** Checks a page of `list`. `stored` contains all plants. */
export async function expectList(
  storage: TestedAdapter,
  user: string,
  range: ListRange,
  stored: readonly OwnedPlant[],
  rule: string = visible,
): Promise<PlantPage> {
  const page = await storage.list(user, range);
  const { length } = page.plants;
  const call = listText(user, range);
  const owned = inOrder(stored.filter((each) => each.user === user)).map(({ plant }) => plant);
  const due = owned.filter(({ id }) => range.after === undefined || id > range.after);
  expect(length <= range.limit, `${call} returned ${length} plants, which is more than its limit.`);
  expectEqual(page.plants, due.slice(0, Math.max(1, length)), `${rule} ${call} returned other plants.`);
  const rest = due.length - length;
  expect(page.hasMore === rest > 0, `${call} returned hasMore: ${page.hasMore}, but ${rest} plants follow this page.`);
  return page;
}

/** Checks that a page consists of the first plants of one of the given states, and not of a mixture of them. */
export function expectOneState({ plants, hasMore }: PlantPage, states: readonly OwnedPlant[][], rule: string): void {
  const { length } = plants;
  const isOneState = states.some(
    (state) =>
      hasMore === length < state.length &&
      isDeepStrictEqual(
        plants,
        state.slice(0, length).map((s) => s.plant),
      ),
  );
  const ids = `${plants[0]?.id ?? ''} to ${plants.at(-1)?.id ?? ''}`;
  expect(length > 0 && isOneState, `${rule} A list returned ${length} plants, with the ids ${ids}.`);
}

function inOrder(plants: readonly OwnedPlant[]): OwnedPlant[] {
  return plants.toSorted(
    (a, b) => (a.user === b.user ? Number(a.plant.id > b.plant.id) : Number(a.user > b.user)) || -1,
  );
}

/** Commits a batch that fails at the write `failing`. Throws a ContractError if the batch succeeds. */
export async function expectRejection(storage: TestedAdapter, batch: readonly Write[], failing: Write): Promise<void> {
  const [outcome] = await Promise.allSettled([storage.commit(batch)]);
  if (outcome.status === 'rejected' && outcome.reason instanceof Rejection) return;
  if (outcome.status === 'rejected') throw outcome.reason;
  const { plants } = await storage.list(failing.user, { after: idOf(failing) - 1n, limit: 1 });
  const isApplied = (plants[0]?.id === idOf(failing)) === (failing.kind === 'create');
  if (isApplied) {
    throw new ContractError(`makeWriteFail has no effect: the ${failing.kind} was applied. Check the function.`);
  }
  throw new ContractError('commit must reject if the storage fails at a write, or if a write cannot be read.');
}
