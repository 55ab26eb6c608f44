import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import type { CheckClient } from '../check-client.ts';
import type { NewPlant } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectJson, expectJsonType, expectList, expectPlants, expectStatus } from '../expect.ts';
import { headerOf, namesOf, NotRun } from '../expect.ts';
import { checksOf, inTurn } from '../run-cases.ts';
import type { Check, CheckCase } from '../run-cases.ts';
import { invalidAfters, invalidLimits } from './bad-input.ts';

/** A number of plants that exceeds typical default page sizes (10 to 1000). */
const manyPlants = 1100;

/** Returns a check that creates `count` plants with consecutive ids as user A, and then calls `check`. */
function withRow(
  count: number,
  check: (client: CheckClient, row: readonly NewPlant[], before: bigint) => Promise<unknown>,
): Check {
  return async (client) => {
    const first = client.newId(count);
    const row = await client.createAt(...Array.from({ length: count }, (_, index) => first + BigInt(index)));
    await check(client, row, first - 1n);
  };
}

export const listCases: readonly CheckCase[] = checksOf('Get Plants', {
  'list-200 MUST respond to GET /plants with 200 and a JSON array': async ({ a }) => {
    const listed = await expectStatus(a.list(), 200);
    expect(Array.isArray(expectJson(listed)), listed, 'a JSON array');
    await expectJsonType(listed);
  },
  'list-shape MUST list plants with their name and tag only [Plant]': async (c, plant) => {
    await c.a.mustCreate({ ...plant, tag: 'indoor' }, c.newPlant());
    const { plants, exchange } = await c.listMine();
    const fields = plants.map((listed) => Object.keys(listed).toSorted().join());
    expect(fields.join(' ') === 'name,tag name', exchange, 'a Plant with name and tag, and one with a name only');
  },
  'list-order MUST list plants in ascending order of id [order, paging]': async (c) => {
    const plants = Array.from({ length: 5 }, () => c.newPlant());
    for (const index of [3, 0, 4, 2, 1]) await c.a.mustCreate(...plants.slice(index, index + 1));
    await c.expectMine(plants);
  },
  'list-empty MUST respond with [] if there is nothing to list': ({ a }) =>
    expectPlants(a.list(`after=${maxInt64}`), []),
  [`list-all MUST list all plants if there is no limit, also ${manyPlants} of them [no limit]`]: withRow(
    manyPlants,
    async (c, row) => {
      const { plants, exchange } = await c.listMine();
      expect(plants.length === row.length, exchange, `${row.length} plants, not ${plants.length}`);
      expect(namesOf(plants).join() === namesOf(row).join(), exchange, 'each plant once, in order');
      expect(!exchange.response.headers.has('link'), exchange, 'no Link header');
    },
  ),
  'list-unknown-parameter MUST ignore unknown query parameters [limit]': withRow(2, (c, row, before) =>
    expectPlants(c.a.list(`page=7&after=${before}&name=x&limit=2&offset=1&=&%20`), row),
  ),
  'limit-bounds MUST return exactly as many plants as limit allows [limit]': withRow(5, async ({ a }) => {
    for (const limit of [1, 2, 4, 5]) {
      const listed = await a.list(`limit=${limit}`);
      const { length } = await expectList(listed);
      expect(length === limit, listed, `as many plants as limit allows, ${limit}`);
    }
  }),
  'limit-zero MUST respond to limit=0 with [] [limit]': withRow(1, ({ a }) =>
    expectPlants(expectStatus(a.list('limit=0'), 200), []),
  ),
  'limit-largest MUST accept limit=2147483647 [limit]': async (c) => {
    const { name } = await c.createPlant();
    const listed = await expectStatus(c.a.list('limit=2147483647'), 200);
    expect(namesOf(await expectList(listed)).includes(name), listed, `the plant ${name}`);
  },
  'limit-invalid MUST respond with 400 to a limit that is not an int32 of 0 or more [limit]': ({ a }) =>
    inTurn(invalidLimits, (limit) => expectError(a.list(`limit=${limit}`), 400)),
  'limit-repeated MUST respond with 400 to a repeated limit [limit]': ({ a }) =>
    inTurn([1, 2], (limit) => expectError(a.list(`limit=1&limit=${limit}`), 400)),
  'limit-encoded SHOULD accept a percent-encoded limit [RFC 3986 §2.1]': withRow(2, (c, row, before) =>
    expectPlants(c.a.list(`after=${before}&%6Cimit=%31`), row.slice(0, 1)),
  ),
});

/**
 * Returns the target of the `rel="next"` link in the `Link` header (RFC 8288), or `undefined` if there is no such link
 * or if its URL does not begin with the base URL.
 */
function nextTarget({ baseUrl }: CheckClient, page: Exchange): string | undefined {
  const links = headerOf(page, 'link').matchAll(/<([^>]*)>((?:\s*;\s*[^,;=]+(?:=(?:"[^"]*"|[^,;]*))?)*)/g);
  for (const [, reference = '', parameters = ''] of links) {
    const relations = /;\s*rel\s*=\s*"?([^";]*)/i.exec(parameters)?.[1] ?? '';
    if (!relations.toLowerCase().split(' ').includes('next')) continue;
    const url = URL.parse(reference, baseUrl + page.request.target)?.href ?? '';
    return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
  }
  return undefined;
}

/** Requests the next page, to which the `Link` header of a page refers. */
async function followNext(client: CheckClient, page: Exchange): Promise<Exchange> {
  const target = nextTarget(client, page);
  expect(target !== undefined, page, 'a Link header with rel="next" and an address under the base URL');
  return client.a.send(`GET ${target}`);
}

function expectNoNext(client: CheckClient, page: Exchange): void {
  expect(nextTarget(client, page) === undefined, page, 'no Link header with rel="next"');
}

/** Checks that the `Link` header of a page refers to a target with these query parameters. */
function expectNext(client: CheckClient, page: Exchange, parameters: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(nextTarget(client, page)?.split('?')[1]);
  const isRight = Object.entries(parameters).every(([name, value]) => query.get(name) === value);
  expect(isRight, page, `a Link to /plants?${new URLSearchParams(parameters).toString()}`);
}

export const pagingCases: readonly CheckCase[] = checksOf('order, paging', {
  'after-exclusive MUST return only plants with an id greater than after': withRow(3, async (c, row, before) => {
    await expectPlants(c.a.list(`after=${before}&limit=3`), row);
    await expectPlants(c.a.list(`after=${before + 1n}&limit=2`), row.slice(1));
  }),
  'after-absent-id MUST accept an after that is not the id of a plant': async (c) => {
    const id = c.newId(3);
    const plants = await c.createAt(id, id + 2n);
    await expectPlants(c.a.list(`after=${id + 1n}&limit=1`), plants.slice(1));
  },
  'after-extremes MUST accept every int64 as after': withRow(1, async ({ a }) => {
    const listed = await a.list(`after=${minInt64}&limit=1`);
    expect((await expectList(listed)).length === 1, listed, 'one plant');
    await expectPlants(a.list(`after=${maxInt64}&limit=1`), []);
  }),
  'after-without-limit MUST return all plants after an id if there is no limit': withRow(3, (c, row, before) =>
    c.expectMine(row.slice(1), c.a, `after=${before + 1n}`),
  ),
  'after-invalid MUST respond with 400 to an after that is not an int64': ({ a }) =>
    inTurn(invalidAfters, (after) => expectError(a.list(`after=${after}`), 400)),
  'after-repeated MUST respond with 400 to a repeated after': ({ a }) => expectError(a.list('after=1&after=1'), 400),
  'link-next MUST send a Link to the next page if a limit cuts the list [order, paging; RFC 8288]': withRow(
    3,
    async (c, row, before) => {
      const next = await followNext(c, await c.a.list(`after=${before}&limit=2`));
      const [first] = await expectList(next);
      const name = row[2]?.name ?? '';
      expect(first?.name === name, next, `the plant ${name} first`);
    },
  ),
  'link-parameters MUST link to the next page with the same limit and the last id of this page': withRow(
    3,
    async (c, _, before) => {
      expectNext(c, await c.a.list(`after=${before}&limit=2`), { limit: '2', after: `${before + 2n}` });
    },
  ),
  'link-exact MUST link to the exact id, also over 2^53': async (c) => {
    const id = c.newLargeId();
    await c.createAt(id, id + 1n, id + 2n);
    expectNext(c, await c.a.list(`after=${id - 1n}&limit=2`), { after: `${id + 1n}` });
  },
  'link-absent MUST send no Link if no limit cuts the list': withRow(2, async (c) => {
    for (const query of ['', 'limit=2147483647', 'limit=0']) expectNoNext(c, await c.a.list(query));
  }),
  'link-absent-last-page MUST send no Link with the last page, even if it is full': withRow(
    2,
    async (c, row, before) => {
      const rest = await expectList(c.a.list(`after=${before + 2n}`));
      if (rest.length > 0) throw new NotRun('User A has plants with greater ids.');
      expectNoNext(c, await expectPlants(c.a.list(`after=${before}&limit=2`), row));
    },
  ),
  'link-follow MUST list every plant exactly once and in order over all pages': withRow(7, async (c, row, before) => {
    const names = namesOf(row).join(', ');
    const seen: string[] = [];
    let page = await c.a.list(`after=${before}&limit=3`);
    // The plants of this check fit in three pages. The loop reads up to four pages, to detect plants that are listed
    // more than once.
    for (let pages = 0; pages < 4; pages++) {
      seen.push(...namesOf(await expectList(page)).filter((name) => name.startsWith(c.marker)));
      if (nextTarget(c, page) === undefined) break;
      page = await followNext(c, page);
    }
    const found = seen.join(', ');
    expect(found === names, page, `the plants ${names} over all pages, not ${c.redact(found)}`);
  }),
  'link-after-changes MUST continue a list at the right place after plants were created and deleted': async (c) => {
    const id = c.newId(20);
    const plants = await c.createAt(id, id + 4n, id + 8n, id + 12n);
    const page = await c.a.list(`after=${id - 1n}&limit=2`);
    await c.a.remove(id + 4n);
    await c.createAt(id + 2n);
    const next = await followNext(c, page);
    const names = namesOf(plants.slice(2)).join(', ');
    expect(namesOf(await expectList(next)).join(', ') === names, next, `the plants ${names}`);
  },
});
