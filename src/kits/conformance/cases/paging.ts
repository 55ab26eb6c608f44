import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectList, expectPlants } from '../expect.ts';
import { NotRun } from '../not-run.ts';

const source = plantStore('order, paging');

/** Invalid values of `after`, which must be a single int64. */
export const invalidAfters: readonly string[] = [
  '',
  'x',
  '1.0',
  '1e3',
  '+',
  '9223372036854775808',
  '-9223372036854775809',
  '%00',
];

/**
 * Returns the target of the `rel="next"` link in the `Link` header (RFC 8288), or `undefined` if there is no such link.
 */
function nextTarget(client: CheckClient, { request, response }: Exchange): string | undefined {
  const links = (response.headers.get('link') ?? '').matchAll(
    /<([^>]*)>((?:\s*;\s*[^,;=]+(?:=(?:"[^"]*"|[^,;]*))?)*)/g,
  );
  for (const [, reference = '', parameters = ''] of links) {
    const relations = /;\s*rel\s*=\s*"?([^";]*)/i.exec(parameters)?.[1] ?? '';
    if (relations.toLowerCase().split(' ').includes('next')) return client.resolve(reference, request.target);
  }
  return undefined;
}

/** Creates plants with consecutive ids. Returns their names and the id that precedes the first id. */
async function createRow(client: CheckClient, count: number): Promise<{ names: string[]; before: bigint }> {
  const plants = client.newPlants(count);
  await client.a.createAll(plants);
  return { names: plants.map(({ name }) => name), before: (plants[0]?.id ?? 0n) - 1n };
}

function named(names: readonly string[]): { name: string }[] {
  return names.map((name) => ({ name }));
}

/** Checks of the pages of a list, and of the `Link` header that contains the URL of the next page. */
export const pagingCases: readonly CheckCase[] = [
  must('after-exclusive', 'return only plants with an id greater than after', source, async (client) => {
    const { names, before } = await createRow(client, 3);
    expectPlants(await client.a.list(`after=${before}&limit=3`), named(names));
    expectPlants(await client.a.list(`after=${before + 1n}&limit=2`), named(names.slice(1)));
  }),
  must('after-absent-id', 'accept an after that is not the id of a plant', source, async (client) => {
    const [first, second] = [client.newPlant(), client.newId()];
    const third = client.newPlant();
    await client.a.createAll([first, third]);
    expectPlants(await client.a.list(`after=${second}&limit=1`), named([third.name]));
  }),
  must('after-extremes', 'accept every int64 as after', source, async (client) => {
    await client.a.mustCreate(client.newPlant());
    const listed = await client.a.list(`after=${minInt64}&limit=1`);
    expect(expectList(listed).length === 1, listed, 'one plant');
    expectPlants(await client.a.list(`after=${maxInt64}&limit=1`), []);
  }),
  must('after-without-limit', 'return all plants after an id if there is no limit', source, async (client) => {
    const { names, before } = await createRow(client, 3);
    const listed = await client.a.list(`after=${before + 1n}`);
    const mine = expectList(listed).filter(({ name }) => name.startsWith(client.marker));
    expect(
      mine.map(({ name }) => name).join() === names.slice(1).join(),
      listed,
      `the plants ${names.slice(1).join(', ')}`,
    );
  }),
  must('after-invalid', 'respond with 400 to an after that is not an int64', source, async ({ a }) => {
    for (const after of invalidAfters) expectError(await a.list(`after=${after}`), 400);
  }),
  must('after-repeated', 'respond with 400 to a repeated after', source, async ({ a }) => {
    expectError(await a.list('after=1&after=1'), 400);
  }),
  must('link-next', 'send a Link to the next page if a limit cuts the list', `${source}; RFC 8288`, async (client) => {
    const { names, before } = await createRow(client, 3);
    const page = await client.a.list(`after=${before}&limit=2`);
    const target = nextTarget(client, page);
    expect(target !== undefined, page, 'a Link header with rel="next" and an address under the base URL');
    const next = await client.a.send('GET', target);
    const [first] = expectList(next);
    expect(first?.name === names[2], next, `the plant ${names[2] ?? ''} first`);
  }),
  must(
    'link-parameters',
    'link to the next page with the same limit and the last id of this page',
    source,
    async (client) => {
      const { before } = await createRow(client, 3);
      const page = await client.a.list(`after=${before}&limit=2`);
      const query = new URLSearchParams(nextTarget(client, page)?.split('?')[1]);
      const isRight = query.get('limit') === '2' && query.get('after') === `${before + 2n}`;
      expect(isRight, page, `a Link to /plants?limit=2&after=${before + 2n}`);
    },
  ),
  must('link-exact', 'link to the exact id, also over 2^53', source, async (client) => {
    const id = client.newLargeId(3);
    const ids = [id, id + 1n, id + 2n];
    await client.a.createAll(ids.map((each) => ({ id: each, name: client.newName() })));
    const page = await client.a.list(`after=${id - 1n}&limit=2`);
    const query = new URLSearchParams(nextTarget(client, page)?.split('?')[1]);
    expect(query.get('after') === `${id + 1n}`, page, `a Link with after=${id + 1n}`);
  }),
  must('link-absent', 'send no Link if no limit cuts the list', source, async (client) => {
    await createRow(client, 2);
    for (const query of ['', 'limit=2147483647', 'limit=0']) {
      const listed = await client.a.list(query);
      expect(nextTarget(client, listed) === undefined, listed, 'no Link header with rel="next"');
    }
  }),
  must('link-absent-last-page', 'send no Link with the last page, even if it is full', source, async (client) => {
    const { names, before } = await createRow(client, 2);
    const rest = await client.a.list(`after=${before + 2n}`);
    if (expectList(rest).length > 0) throw new NotRun('User A has plants with greater ids.');
    const page = await client.a.list(`after=${before}&limit=2`);
    expectPlants(page, named(names));
    expect(nextTarget(client, page) === undefined, page, 'no Link header with rel="next"');
  }),
  must('link-follow', 'list every plant exactly once and in order over all pages', source, async (client) => {
    const { names, before } = await createRow(client, 7);
    const seen: string[] = [];
    let page = await client.a.list(`after=${before}&limit=3`);
    // The plants of this check fit in three pages. The loop reads up to four pages, to detect plants that are listed
    // more than once.
    for (let pages = 0; pages < 4; pages++) {
      seen.push(...expectList(page).flatMap(({ name }) => (name.startsWith(client.marker) ? [name] : [])));
      const target = nextTarget(client, page);
      if (target === undefined) break;
      page = await client.a.send('GET', target);
    }
    const expected = `the plants ${names.join(', ')} over all pages, not ${client.redact(seen.join(', '))}`;
    expect(seen.join() === names.join(), page, expected);
  }),
  must(
    'link-after-changes',
    'continue a list at the right place after plants were created and deleted',
    source,
    async (client) => {
      const gaps = client.newId(20);
      const plants = [0n, 4n, 8n, 12n].map((offset) => ({ id: gaps + offset, name: client.newName() }));
      await client.a.createAll(plants);
      const page = await client.a.list(`after=${gaps - 1n}&limit=2`);
      const target = nextTarget(client, page);
      expect(target !== undefined, page, 'a Link header with rel="next"');
      await client.a.remove(gaps + 4n);
      await client.a.mustCreate({ id: gaps + 2n, name: client.newName() });
      const next = await client.a.send('GET', target);
      const names = expectList(next).map(({ name }) => name);
      const expected = plants.slice(2).map(({ name }) => name);
      expect(names.join() === expected.join(), next, `the plants ${expected.join(', ')}`);
    },
  ),
];
