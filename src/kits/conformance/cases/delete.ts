import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import { must, plantStore, should } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { expect, expectError, expectStatus } from '../expect.ts';

const source = plantStore('Delete Plant');
const idSource = plantStore('{id}');

/**
 * Returns path segments that are not valid decimal int64 values. A faulty server may interpret some of them as `id`, so
 * `id` must be an id that only this check uses.
 */
export function invalidIds(id: bigint): string[] {
  const digits = [
    `${id}.0`,
    `${id}e0`,
    `+${id}`,
    `0x${id.toString(16)}`,
    `${id}x`,
    `%20${id}`,
    `${id}%20`,
    `${id}%2F${id}`,
  ];
  const eastern = Array.from(String(id), (digit) => encodeURIComponent(String.fromCodePoint(0x660 + Number(digit))));
  return ['x', '-', '%20', '%zz', ...digits, eastern.join(''), `${id}`.repeat(100)];
}

/** Checks of DELETE /plants/{id}. */
export const deleteCases: readonly CheckCase[] = [
  must('delete-204', 'respond to the DELETE of a plant with 204 and no body', source, async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    const deleted = await client.a.remove(plant.id);
    expectStatus(deleted, 204);
    expect(deleted.response.text === '', deleted, 'no body');
  }),
  must('delete-gone', 'NOT list a deleted plant', source, async (client) => {
    const [kept, deleted] = [client.newPlant(), client.newPlant()];
    await client.a.createAll([kept, deleted]);
    await client.a.remove(deleted.id);
    const { plants, exchange } = await client.a.listMarked(client.marker);
    expect(plants.length === 1 && plants[0]?.name === kept.name, exchange, `the plant ${kept.name} only`);
  }),
  must('delete-absent', 'respond with 404 to the DELETE of an absent plant', source, async (client) => {
    expectError(await client.a.remove(client.newId()), 404);
  }),
  must('delete-twice', 'respond with 404 to a second DELETE', source, async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    await client.a.remove(plant.id);
    expectError(await client.a.remove(plant.id), 404);
  }),
  must(
    'delete-once',
    'delete a plant exactly once if the same request arrives many times at once',
    source,
    async (client) => {
      const plant = client.newPlant();
      await client.a.mustCreate(plant);
      const sent = await Promise.all(Array.from({ length: 8 }, () => client.a.remove(plant.id)));
      const deleted = sent.filter(({ response }) => response.status === 204);
      for (const exchange of sent) if (!deleted.includes(exchange)) expectError(exchange, 404);
      const [first, second] = deleted;
      if (first === undefined && sent[0] !== undefined) expectStatus(sent[0], 204);
      if (second !== undefined) expectStatus(second, 404);
    },
  ),
  must('delete-invalid-id', 'respond with 400 to an id that is not a decimal int64', idSource, async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    for (const id of invalidIds(plant.id)) expectError(await client.a.remove(id), 400);
  }),
  must('delete-out-of-range', 'respond with 400 to the DELETE of an id beyond int64', idSource, async (client) => {
    // A faulty server may replace the id with the nearest int64 and delete the plant with that id. This check therefore
    // creates the plants with the largest and the smallest int64 itself, and does not run if the user already has them.
    await client.createAtFixedId(maxInt64);
    await client.createAtFixedId(minInt64);
    for (const id of [maxInt64 + 1n, minInt64 - 1n]) expectError(await client.a.remove(id), 400);
  }),
  should('delete-encoded', 'accept percent-encoded digits in the path', 'RFC 3986 §6.2.2.2', async (client) => {
    const id = client.newId();
    const plants = [id, -id].map((each) => ({ id: each, name: client.newName() }));
    await client.a.createAll(plants);
    for (const plant of plants) {
      const encoded = String(plant.id).replaceAll(/[\d-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
      expectStatus(await client.a.remove(encoded), 204);
    }
  }),
  should('delete-with-content', 'ignore the content of a DELETE', 'RFC 9110 §9.3.5', async (client) => {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    expectStatus(await client.a.send('DELETE', `/plants/${plant.id}`, { body: `{"id":${plant.id}}` }), 204);
  }),
];
