import { inspect, isDeepStrictEqual } from 'node:util';
import { beforeAll, compareOwned } from '../../core/key-order.ts';
import type { OwnedPlant, PageRequest, ScanRange, StorageAdapter } from '../../core/storage-adapter.ts';
import { expect, expectEqual, fail, shown, visible } from './expect.ts';
import { keyOf, plantOf } from './plants.ts';

const rule = 'When a commit resolves, every later call must return its plants, unchanged and in order.';

/**
 * Checks that `list`, `listPages` and `scan` return exactly the plants in `stored`, which must be in the order of
 * `scan`. Reads the plants page by page, once with each of the limits. `contract` is the rule that an adapter violates
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
      if (storage.listPages === undefined) continue;
      await readAll(plants.length, (at) => expectListPages(storage, [request(at)], plants, contract));
    }
    await readAll(stored.length, (at) => {
      const last = stored[at - 1];
      return expectScan(storage, { after: last && keyOf(last), limit }, stored, contract);
    });
  }
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

/** Checks the pages that `listPages` returns, like {@link expectList}. Returns the number of plants in all pages. */
export async function expectListPages(
  storage: StorageAdapter,
  requests: readonly PageRequest[],
  stored: readonly OwnedPlant[],
  contract: string = rule,
): Promise<number> {
  const pages = (await storage.listPages?.(requests)) ?? [];
  for (const [n, { json, count, last, hasMore }] of pages.entries()) {
    const request = requests[n] ?? fail('listPages must return one page for each request.');
    const call = `listPages, for its request ${n + 1} of ${requests.length} (${requestText(request)}),`;
    const due = plantsAfter(stored, request);
    const expected = pageOf(call, due, request, count);
    const plants = expected.map(({ plant: { name, tag } }) => (tag === undefined ? { name } : { name, tag }));
    expectEqual(parsed(call, json), plants, `${contract} ${call} returned other plants, or a wrong count.`);
    expectEqual(last, expected.at(-1)?.plant.id, `${call} must return the id of the last plant of the page as last.`);
    expectHasMore(call, hasMore, due.length - count);
  }
  return pages.reduce((sum, { count }) => sum + count, 0);
}

/** Checks a page that `scan` returns, like {@link expectList}. */
export async function expectScan(
  storage: StorageAdapter,
  range: ScanRange,
  stored: readonly OwnedPlant[],
  contract: string = rule,
): Promise<number> {
  const { after, limit } = range;
  const found = await storage.scan(range);
  const start = after === undefined ? 'undefined' : `${after.id} of the user ${visible(after.user)}`;
  const call = `scan(after: ${start}, limit: ${limit})`;
  const { user, id } = after ?? beforeAll;
  const due = stored.filter((owned) => compareOwned(owned, plantOf(user, id)) > 0);
  expectPlants(found, pageOf(call, due, range, found.length), `${contract} ${call}`);
  return found.length;
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

/** Parses the JSON of a page, which must not contain white space between tokens. */
function parsed(call: string, json: string): unknown {
  const isCompact = !/\s/.test(json.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''));
  expect(isCompact, `${call} returned JSON with white space between tokens: ${shown(json)}.`);
  try {
    return JSON.parse(json);
  } catch (error) {
    return fail(`${call} returned ${shown(json)}, which is not JSON: ${shown(error)}.`, error);
  }
}

function requestText({ user, after, limit }: PageRequest): string {
  return `${visible(user)}, after: ${after ?? 'undefined'}, limit: ${limit}`;
}
