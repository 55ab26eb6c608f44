import { must, plantStore, should } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import {
  expect,
  expectError,
  expectJson,
  expectList,
  expectPlants,
  expectStatus,
  fieldsOf,
  mediaType,
} from '../expect.ts';
import { maxInt64 } from '../../../core/model/int64.ts';

const source = plantStore('Get Plants');
const limitSource = plantStore('limit');

/** A number of plants that exceeds typical default page sizes (10 to 1000). */
const manyPlants = 1100;

/** Invalid values of `limit`, which must be a single integer from 0 to 2147483647. */
export const invalidLimits: readonly string[] = [
  '',
  '-1',
  '-0',
  '%2B1',
  '1.5',
  '1e3',
  '0x10',
  'x',
  '%201',
  '2147483648',
  '99999999999999999999',
];

/** Checks of GET /plants without paging. */
export const listCases: readonly CheckCase[] = [
  must('list-200', 'respond to GET /plants with 200 and a JSON array', source, async (client) => {
    const listed = await client.a.list();
    expectStatus(listed, 200);
    expect(Array.isArray(expectJson(listed)), listed, 'a JSON array');
    expect(mediaType(listed) === 'application/json', listed, 'the media type application/json');
  }),
  must('list-shape', 'list plants with their name and tag only', plantStore('Plant'), async (client) => {
    const [first, second] = [client.newPlant('indoor'), client.newPlant()];
    await client.a.createAll([first, second]);
    const listed = await client.a.list();
    const mine = expectList(listed).filter(({ name }) => name.startsWith(client.marker));
    const fields = mine.map((plant) => Object.keys(fieldsOf(plant)).toSorted().join());
    expect(fields.join(' ') === 'name,tag name', listed, 'a Plant with name and tag, and one with a name only');
  }),
  must('list-order', 'list plants in ascending order of id', plantStore('order, paging'), async (client) => {
    const plants = client.newPlants(5);
    const shuffled = [3, 0, 4, 2, 1].flatMap((index) => plants[index] ?? []);
    for (const plant of shuffled) await client.a.mustCreate(plant);
    const { plants: listed, exchange } = await client.a.listMarked(client.marker);
    const names = plants.map(({ name }) => name).join(', ');
    expect(listed.map(({ name }) => name).join(', ') === names, exchange, `the plants ${names} in this order`);
  }),
  must('list-empty', 'respond with [] if there is nothing to list', source, async (client) => {
    expectPlants(await client.a.list(`after=${maxInt64}`), []);
  }),
  must(
    'list-all',
    `list all plants if there is no limit, also ${manyPlants} of them`,
    plantStore('no limit'),
    async (client) => {
      const plants = client.newPlants(manyPlants);
      await client.a.createAll(plants);
      const { plants: listed, exchange } = await client.a.listMarked(client.marker);
      const expected = `${manyPlants} plants, not ${listed.length}`;
      expect(listed.length === manyPlants, exchange, expected);
      expect(
        listed.every(({ name }, index) => name === plants[index]?.name),
        exchange,
        'each plant once, in order',
      );
      expect(!exchange.response.headers.has('link'), exchange, 'no Link header');
    },
  ),
  must('list-unknown-parameter', 'ignore unknown query parameters', limitSource, async (client) => {
    const [first, second] = [client.newPlant(), client.newPlant()];
    await client.a.createAll([first, second]);
    const query = `page=7&after=${first.id - 1n}&name=x&limit=2&offset=1&=&%20`;
    expectPlants(await client.a.list(query), [{ name: first.name }, { name: second.name }]);
  }),
  must('limit-bounds', 'return exactly as many plants as limit allows', limitSource, async (client) => {
    const plants = client.newPlants(5);
    await client.a.createAll(plants);
    for (const limit of [1, 2, 4, 5]) {
      const listed = await client.a.list(`limit=${limit}`);
      expect(expectList(listed).length === limit, listed, `as many plants as limit allows, ${limit}`);
    }
  }),
  must('limit-zero', 'respond to limit=0 with []', limitSource, async (client) => {
    await client.a.mustCreate(client.newPlant());
    const listed = await client.a.list('limit=0');
    expectStatus(listed, 200);
    expectPlants(listed, []);
  }),
  must('limit-largest', 'accept limit=2147483647', limitSource, async (client) => {
    const { id, name } = client.newPlant();
    await client.a.mustCreate({ id, name });
    const listed = await client.a.list('limit=2147483647');
    expectStatus(listed, 200);
    expect(
      expectList(listed).some((plant) => plant.name === name),
      listed,
      `the plant ${name}`,
    );
  }),
  must('limit-invalid', 'respond with 400 to a limit that is not an int32 of 0 or more', limitSource, async ({ a }) => {
    for (const limit of invalidLimits) expectError(await a.list(`limit=${limit}`), 400);
  }),
  must('limit-repeated', 'respond with 400 to a repeated limit', limitSource, async ({ a }) => {
    expectError(await a.list('limit=1&limit=1'), 400);
    expectError(await a.list('limit=1&limit=2'), 400);
  }),
  should('limit-encoded', 'accept a percent-encoded limit', 'RFC 3986 §2.1', async (client) => {
    const [first, second] = [client.newPlant(), client.newPlant()];
    await client.a.createAll([first, second]);
    expectPlants(await client.a.list(`after=${first.id - 1n}&%6Cimit=%31`), [{ name: first.name }]);
  }),
];
