import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import { checksOf, each } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import {
  expect,
  expectError,
  expectJson,
  expectJsonType,
  expectList,
  expectPlants,
  expectStatus,
  fieldsOf,
  NotRun,
} from '../expect.ts';
import type { ListedPlant } from '../expect.ts';
import { invalidAfters, invalidLimits } from './bad-input.ts';

/** A number of plants that exceeds typical default page sizes (10 to 1000). */
const manyPlants = 1100;

function namesOf(plants: readonly ListedPlant[]): string[] {
  return plants.map(({ name }) => name);
}

/** Checks of GET /plants without paging. */
export const listCases: readonly CheckCase[] = checksOf('Get Plants', {
  'list-200 MUST respond to GET /plants with 200 and a JSON array': async ({ a }) => {
    const listed = await expectStatus(a.list(), 200);
    expect(Array.isArray(expectJson(listed)), listed, 'a JSON array');
    await expectJsonType(listed);
  },
  'list-shape MUST list plants with their name and tag only [Plant]': async (c) => {
    await c.a.mustCreate(c.newPlant('indoor'), c.newPlant());
    const { plants, exchange } = await c.listMine();
    const fields = plants.map((plant) => Object.keys(fieldsOf(plant)).toSorted().join());
    expect(fields.join(' ') === 'name,tag name', exchange, 'a Plant with name and tag, and one with a name only');
  },
  'list-order MUST list plants in ascending order of id [order, paging]': async (c) => {
    const plants = c.newPlants(5);
    const names = namesOf(plants);
    for (const index of [3, 0, 4, 2, 1]) await c.a.mustCreate(...plants.slice(index, index + 1));
    await c.expectMine(names, `the plants ${names.join(', ')} in this order`);
  },
  'list-empty MUST respond with [] if there is nothing to list': ({ a }) =>
    expectPlants(a.list(`after=${maxInt64}`), []),
  [`list-all MUST list all plants if there is no limit, also ${manyPlants} of them [no limit]`]: async (c) => {
    const plants = c.newPlants(manyPlants);
    await c.a.mustCreate(...plants);
    const { plants: listed, exchange } = await c.listMine();
    expect(listed.length === manyPlants, exchange, `${manyPlants} plants, not ${listed.length}`);
    expect(namesOf(listed).join() === namesOf(plants).join(), exchange, 'each plant once, in order');
    expect(!exchange.response.headers.has('link'), exchange, 'no Link header');
  },
  'list-unknown-parameter MUST ignore unknown query parameters [limit]': async (c) => {
    const [first, second] = [await c.createPlant(), await c.createPlant()];
    const query = `page=7&after=${first.id - 1n}&name=x&limit=2&offset=1&=&%20`;
    await expectPlants(c.a.list(query), [first, second]);
  },
  'limit-bounds MUST return exactly as many plants as limit allows [limit]': async (c) => {
    await c.a.mustCreate(...c.newPlants(5));
    for (const limit of [1, 2, 4, 5]) {
      const listed = await c.a.list(`limit=${limit}`);
      const count = (await expectList(listed)).length;
      expect(count === limit, listed, `as many plants as limit allows, ${limit}`);
    }
  },
  'limit-zero MUST respond to limit=0 with [] [limit]': async (c) => {
    await c.createPlant();
    await expectPlants(expectStatus(c.a.list('limit=0'), 200), []);
  },
  'limit-largest MUST accept limit=2147483647 [limit]': async (c) => {
    const { name } = await c.createPlant();
    const listed = await expectStatus(c.a.list('limit=2147483647'), 200);
    expect(namesOf(await expectList(listed)).includes(name), listed, `the plant ${name}`);
  },
  'limit-invalid MUST respond with 400 to a limit that is not an int32 of 0 or more [limit]': each(
    invalidLimits,
    ({ a }, limit) => expectError(a.list(`limit=${limit}`), 400),
  ),
  'limit-repeated MUST respond with 400 to a repeated limit [limit]': each([1, 2], ({ a }, limit) =>
    expectError(a.list(`limit=1&limit=${limit}`), 400),
  ),
  'limit-encoded SHOULD accept a percent-encoded limit [RFC 3986 §2.1]': async (c) => {
    const [first] = [await c.createPlant(), await c.createPlant()];
    await expectPlants(c.a.list(`after=${first.id - 1n}&%6Cimit=%31`), [first]);
  },
});

/**
 * Returns the target of the `rel="next"` link in the `Link` header (RFC 8288), or `undefined` if there is no such link
 * or if its URL does not begin with the base URL.
 */
function nextTarget({ baseUrl }: CheckClient, { request, response }: Exchange): string | undefined {
  const links = (response.headers.get('link') ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[^,;=]+(?:=(?:"[^"]*"|[^,;]*))?)*)/g,
  );
  for (const [, reference = '', parameters = ''] of links) {
    const relations = /;\s*rel\s*=\s*"?([^";]*)/i.exec(parameters)?.[1] ?? '';
    if (!relations.toLowerCase().split(' ').includes('next')) continue;
    const url = URL.parse(reference, baseUrl + request.target)?.href ?? '';
    return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined;
  }
  return undefined;
}

function expectNoNext(client: CheckClient, page: Exchange): void {
  expect(nextTarget(client, page) === undefined, page, 'no Link header with rel="next"');
}

/** Returns the query of the link to the next page. */
function nextQuery(client: CheckClient, page: Exchange): URLSearchParams {
  return new URLSearchParams(nextTarget(client, page)?.split('?')[1]);
}

/** Creates plants with consecutive ids. Returns them and the id that precedes the first id. */
async function createRow(client: CheckClient, count: number): Promise<{ row: ListedPlant[]; before: bigint }> {
  const row = client.newPlants(count);
  await client.a.mustCreate(...row);
  return { row, before: (row[0]?.id ?? 0n) - 1n };
}

/** Checks of the pages of a list, and of the `Link` header that contains the URL of the next page. */
export const pagingCases: readonly CheckCase[] = checksOf('order, paging', {
  'after-exclusive MUST return only plants with an id greater than after': async (c) => {
    const { row, before } = await createRow(c, 3);
    await expectPlants(c.a.list(`after=${before}&limit=3`), row);
    await expectPlants(c.a.list(`after=${before + 1n}&limit=2`), row.slice(1));
  },
  'after-absent-id MUST accept an after that is not the id of a plant': async (c) => {
    const first = await c.createPlant();
    c.newId();
    const third = await c.createPlant();
    await expectPlants(c.a.list(`after=${first.id + 1n}&limit=1`), [third]);
  },
  'after-extremes MUST accept every int64 as after': async (c) => {
    await c.createPlant();
    const listed = await c.a.list(`after=${minInt64}&limit=1`);
    expect((await expectList(listed)).length === 1, listed, 'one plant');
    await expectPlants(c.a.list(`after=${maxInt64}&limit=1`), []);
  },
  'after-without-limit MUST return all plants after an id if there is no limit': async (c) => {
    const { row, before } = await createRow(c, 3);
    const names = namesOf(row.slice(1));
    await c.expectMine(names, `the plants ${names.join(', ')}`, c.a, `after=${before + 1n}`);
  },
  'after-invalid MUST respond with 400 to an after that is not an int64': each(invalidAfters, ({ a }, after) =>
    expectError(a.list(`after=${after}`), 400),
  ),
  'after-repeated MUST respond with 400 to a repeated after': ({ a }) => expectError(a.list('after=1&after=1'), 400),
  'link-next MUST send a Link to the next page if a limit cuts the list [order, paging; RFC 8288]': async (c) => {
    const { row, before } = await createRow(c, 3);
    const page = await c.a.list(`after=${before}&limit=2`);
    const target = nextTarget(c, page);
    expect(target !== undefined, page, 'a Link header with rel="next" and an address under the base URL');
    const next = await c.a.send(`GET ${target}`);
    const [first] = await expectList(next);
    const name = row[2]?.name ?? '';
    expect(first?.name === name, next, `the plant ${name} first`);
  },
  'link-parameters MUST link to the next page with the same limit and the last id of this page': async (c) => {
    const { before } = await createRow(c, 3);
    const page = await c.a.list(`after=${before}&limit=2`);
    const query = nextQuery(c, page);
    const isRight = query.get('limit') === '2' && query.get('after') === `${before + 2n}`;
    expect(isRight, page, `a Link to /plants?limit=2&after=${before + 2n}`);
  },
  'link-exact MUST link to the exact id, also over 2^53': async (c) => {
    const id = c.newLargeId();
    await c.createAt(id, id + 1n, id + 2n);
    const page = await c.a.list(`after=${id - 1n}&limit=2`);
    expect(nextQuery(c, page).get('after') === `${id + 1n}`, page, `a Link with after=${id + 1n}`);
  },
  'link-absent MUST send no Link if no limit cuts the list': async (c) => {
    await createRow(c, 2);
    for (const query of ['', 'limit=2147483647', 'limit=0']) expectNoNext(c, await c.a.list(query));
  },
  'link-absent-last-page MUST send no Link with the last page, even if it is full': async (c) => {
    const { row, before } = await createRow(c, 2);
    const rest = await expectList(c.a.list(`after=${before + 2n}`));
    if (rest.length > 0) throw new NotRun('User A has plants with greater ids.');
    expectNoNext(c, await expectPlants(c.a.list(`after=${before}&limit=2`), row));
  },
  'link-follow MUST list every plant exactly once and in order over all pages': async (c) => {
    const { row, before } = await createRow(c, 7);
    const names = namesOf(row);
    const seen: string[] = [];
    let page = await c.a.list(`after=${before}&limit=3`);
    // The plants of this check fit in three pages. The loop reads up to four pages, to detect plants that are listed
    // more than once.
    for (let pages = 0; pages < 4; pages++) {
      seen.push(...namesOf(await expectList(page)).filter((name) => name.startsWith(c.marker)));
      const target = nextTarget(c, page);
      if (target === undefined) break;
      page = await c.a.send(`GET ${target}`);
    }
    const expected = `the plants ${names.join(', ')} over all pages, not ${c.redact(seen.join(', '))}`;
    expect(seen.join() === names.join(), page, expected);
  },
  'link-after-changes MUST continue a list at the right place after plants were created and deleted': async (c) => {
    const id = c.newId(20);
    const plants = await c.createAt(id, id + 4n, id + 8n, id + 12n);
    const page = await c.a.list(`after=${id - 1n}&limit=2`);
    const target = nextTarget(c, page);
    expect(target !== undefined, page, 'a Link header with rel="next"');
    await c.a.remove(id + 4n);
    await c.createAt(id + 2n);
    const next = await c.a.send(`GET ${target}`);
    const names = namesOf(plants.slice(2));
    expect(namesOf(await expectList(next)).join() === names.join(), next, `the plants ${names.join(', ')}`);
  },
});
