import { inspect, isDeepStrictEqual } from 'node:util';
import type { PageRequest } from '../../core/page.ts';
import type { OwnedPlant, StorageAdapter } from '../../core/storage-adapter.ts';
import { expect, expectEqual, visible } from './expect.ts';
import { compareOwned } from './plants.ts';

const rule = 'When a commit resolves, every later call must return its plants, unchanged and in order.';

/**
 * Checks that `list` and `scan` return exactly the plants in `stored`, which must be in ascending
 * order of id. Lists the plants page by page, once with each of the limits. `contract` is the rule that an adapter violates
 * if it returns other plants.
 */
export async function expectStored(
  storage: StorageAdapter,
  stored: readonly OwnedPlant[],
  { contract = rule, limits = [1000] }: { contract?: string; limits?: readonly number[] } = {},
): Promise<void> {
  const users = new Set([...stored.map(({ user }) => user), 'ada', 'bob', 'eve', 'nobody']);
  for (const limit of limits) {
    for (const user of users) {
      const plants = stored.filter((owned) => owned.user === user);
      const request = (at: number): PageRequest => ({ user, after: plants[at - 1]?.plant.id, limit });
      await readAll(plants.length, (at) => expectList(storage, request(at), plants, contract));
    }
  }
  const found = (await scanAll(storage)).sort(compareOwned);
  expectPlants(found, stored.toSorted(compareOwned), `${contract} scan()`);
}

/** Reads `count` plants page by page. `read` returns the number of plants in the page that starts at `at`. */
async function readAll(count: number, read: (at: number) => Promise<number>): Promise<void> {
  for (let at = await read(0); at < count; at += await read(at));
}

/** Checks a page that `list` returns. `stored` contains all plants. Returns the number of plants in the page. */
export async function expectList(
  storage: StorageAdapter,
  request: PageRequest,
  stored: readonly OwnedPlant[],
  contract: string = rule,
): Promise<number> {
  const { user, ...range } = request;
  const { plants, hasMore } = await storage.list(user, range);
  const call = `list(${requestText(request)})`;
  const due = plantsAfter(stored, request);
  const expected = pageOf(call, due, request, plants.length).map(({ plant }) => plant);
  expectPlants(plants, expected, `${contract} ${call}`);
  expectHasMore(call, hasMore, due.length - plants.length);
  return plants.length;
}

export async function scanAll(storage: StorageAdapter): Promise<OwnedPlant[]> {
  const found: OwnedPlant[] = [];
  for await (const page of storage.scan()) found.push(...page);
  return found;
}

function expectPlants(actual: readonly object[], expected: readonly object[], called: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  const [seen, due] = [actual, expected].map((plants) => plants.map((plant) => inspect(plant)).sort());
  const returned = isDeepStrictEqual(seen, due) ? 'the plants in the wrong order' : 'other plants';
  expectEqual(actual, expected, `${called} returned ${returned}.`);
}

/**
 * Returns the plants that a page with `count` plants must contain. A page may contain fewer plants than its limit, but
 * it must not be empty while plants remain.
 */
function pageOf(call: string, due: readonly OwnedPlant[], { limit }: { limit: number }, count: number): OwnedPlant[] {
  expect(count <= limit, `${call} returned ${count} plants, which is more than its limit.`);
  return due.slice(0, Math.max(1, count));
}

function plantsAfter(stored: readonly OwnedPlant[], { user, after }: PageRequest): OwnedPlant[] {
  return stored.filter((owned) => owned.user === user && (after === undefined || owned.plant.id > after));
}

function expectHasMore(call: string, hasMore: boolean, left: number): void {
  const fact = `the user has ${left > 0 ? 'plants' : 'no plants'} after this page`;
  expect(hasMore === left > 0, `${call} returned ${hasMore} as hasMore, although ${fact}.`);
}

function requestText({ user, after, limit }: PageRequest): string {
  return `${visible(user)}, after: ${after ?? 'undefined'}, limit: ${limit}`;
}
