import { maxInt64 } from '../../../src/core/model/plant.ts';
import type { Client, Exchange, ListedPlant, NewPlant } from '../client.ts';
import { createAt, createPlant, expect, expectError, expectHeader, expectList, expectMine } from '../expect.ts';
import { expectPlants, expectStatus, headerOf, inTurn, mustCreate, namesOf } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** Invalid values of `limit`, which must be a single integer from 0 to 2147483647. */
const invalidLimits = ',-1,%2B1,1.5,1e3,0x10,x,%201,2147483648,99999999999999999999,1&limit=2'.split(',');

/** Invalid values of `after`, which must be a single int64. */
const invalidAfters = ',x,1.0,1e3,+,9223372036854775808,-9223372036854775809,%00,1&after=1'.split(',');

const noNext = 'no Link header with rel="next"';

/** Creates plants with consecutive ids as user A. Their names have at least `length` characters. */
async function createRow(c: Client, count: number, length = 0): Promise<NewPlant[]> {
  const first = c.newId(count);
  const ids = Array.from({ length: count }, (_, n) => first + BigInt(n));
  const row = ids.map((id) => ({ id, name: c.newPlant(id).name.padEnd(length, '\u00e9') }));
  await mustCreate(c.a, ...row);
  return row;
}

/** Returns the target of a `rel="next"` link (RFC 8288), relative to the base URL. */
function nextTarget({ url: base }: Client, page: Exchange): string | undefined {
  const reference = /<([^>]*)>\s*;\s*rel="?next\b/i.exec(headerOf(page, 'link'))?.[1];
  if (reference === undefined) return undefined;
  const { href } = new URL(reference, base + page.request.target);
  expect(href.startsWith(`${base}/`), page, 'a Link to an address under the base URL');
  return href.slice(base.length);
}

/** Checks that a page and those that follow it list each plant of the row once and in order. */
async function expectPages(c: Client, first: Exchange, limit: number, row: readonly NewPlant[]): Promise<void> {
  const seen: ListedPlant[] = [];
  let page = first;
  for (let target: string | undefined = ''; target !== undefined && seen.length <= row.length;) {
    const plants = await expectList(page);
    expect(plants.length <= limit, page, `at most ${limit} plants`);
    seen.push(...plants);
    target = nextTarget(c, page);
    if (target !== undefined) page = await c.a.send(`GET ${target}`);
  }
  const names = namesOf(row);
  expect(namesOf(seen) === names, page, `over all pages, the plants ${names}, not ${namesOf(seen)}`);
}

export const listChecks: Checks = {
  'header-no-store SHOULD send Cache-Control: no-store, because plants are private [RFC 9111 §5.2.2.5]': async (c) => {
    await createPlant(c);
    expectHeader(await c.a.list(), 'cache-control', /\bno-store\b/i, 'Cache-Control: no-store');
  },
  'list-200 MUST respond to GET /plants with 200 and a JSON array of names and tags only': async (c, plant) => {
    const plants = [{ ...plant, tag: 'indoor' }, c.newPlant()];
    await mustCreate(c.a, ...plants);
    await expectPlants(expectStatus(c.a.list(`after=${plant.id - 1n}&limit=2`), 200), plants);
  },
  'list-order MUST list plants in ascending order of id, compared as numbers': async (c, { id }) => {
    // As text, -1 would come before -2.
    const ids = [-c.newLargeId(), -id - 1n, -id, id, c.newId(), c.newLargeId()];
    const plants = ids.map((each) => c.newPlant(each));
    for (const index of [3, 0, 4, 5, 2, 1]) await mustCreate(c.a, ...plants.slice(index, index + 1));
    await expectMine(c, plants);
  },
  'list-all MUST list all plants, or as many as a large limit allows': async (c, { id }) => {
    // More plants than the largest page (1000), and than the largest limit below.
    const row = await createRow(c, 1002);
    for (const query of ['', 'limit=2147483647']) await expectMine(c, row, c.a, query);
    const long = await expectPlants(c.a.list(`after=${id}&limit=1001`), row.slice(0, 1001));
    expect(nextTarget(c, long) === undefined, long, noNext);
    await expectPages(c, await c.a.list(`after=${id}&limit=1000`), 1000, row);
  },
  'list-long MUST list long names completely, in a stream of over 1 MiB and over several pages': async (c, { id }) => {
    const row = await createRow(c, 40, 30_000);
    await expectMine(c, row);
    await expectPages(c, await c.a.list(`after=${id}&limit=1000`), 1000, row);
  },
  'list-unknown-parameter MUST ignore unknown query parameters': async (c, { id }) => {
    const row = await createRow(c, 2);
    await expectPlants(c.a.list(`page=7&after=${id}&name=x&limit=2&offset=1&=&%20`), row);
  },
  'limit-bounds MUST return as many plants as limit allows': async (c) => {
    await createRow(c, 5);
    for (const limit of [0, 1, 2, 4, 5]) {
      const listed = await c.a.list(`limit=${limit}`);
      expect((await expectList(listed)).length === limit, listed, `${limit} plants`);
    }
  },
  'limit-invalid MUST respond with 400 to a limit that is not one int32 of 0 or more': ({ a }) =>
    inTurn(invalidLimits, (limit) => expectError(a.list(`limit=${limit}`), 400)),
  'after-exclusive MUST return only plants with an id greater than after, even above 2^53': async (c) => {
    const id = c.newLargeId();
    const plants = await createAt(c, id, id + 1n, id + 3n);
    for (const [index, after] of [id - 1n, id, id + 2n].entries()) {
      await expectPlants(c.a.list(`after=${after}&limit=${3 - index}`), plants.slice(index));
    }
    await expectMine(c, plants.slice(1), c.a, `after=${id}`);
    const first = -c.newId(2);
    const negative = await createAt(c, first, first + 1n);
    await expectPlants(c.a.list(`after=${first}&limit=1`), negative.slice(1));
  },
  'after-invalid MUST respond with 400 to an after that is not one int64': ({ a }) =>
    inTurn(invalidAfters, (after) => expectError(a.list(`after=${after}`), 400)),
  'link-absent MUST send no Link without a limit, with limit 0, or on a full last page': async (c) => {
    await createAt(c, maxInt64);
    for (const query of ['', 'limit=2147483647', 'limit=0', `after=${maxInt64 - 1n}&limit=1`]) {
      const page = await expectStatus(c.a.list(query), 200);
      expect(nextTarget(c, page) === undefined, page, noNext);
    }
  },
  'link-next MUST link to the next page, so that all pages list each plant once and in order [RFC 8288]': async (c) => {
    const id = c.newLargeId();
    const row = await createAt(c, ...[0n, 1n, 2n, 3n, 4n, 5n, 6n].map((n) => id + n));
    await expectPages(c, await c.a.list(`after=${id - 1n}&limit=3`), 3, row);
  },
  'link-after-changes MUST continue after the last listed id, even if that plant was deleted': async (c) => {
    const id = c.newId(20);
    const plants = await createAt(c, id, id + 4n, id + 8n, id + 12n);
    const page = await c.a.list(`after=${id - 1n}&limit=2`);
    for (const { id: listed } of plants.slice(0, 2)) await c.a.remove(listed);
    await createAt(c, id + 2n);
    const next = await c.a.send(`GET ${nextTarget(c, page) ?? ''}`);
    const names = namesOf(plants.slice(2));
    expect(namesOf(await expectList(next)) === names, next, `the plants ${names}`);
  },
};
