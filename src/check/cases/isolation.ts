import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectPlant, expectStatus } from '../expect.ts';

const source = plantStore('access');

/**
 * Returns the parts of a response that must not depend on the plants of other users: the status, the body and the names
 * of the headers.
 */
function essence({ response }: Exchange): string {
  return `${response.status} ${[...response.headers.keys()].toSorted().join()} ${response.text}`;
}

/** Checks that users can access only their own plants. */
export const isolationCases: readonly CheckCase[] = [
  must('isolation-list', 'NOT list the plants of other users', source, async (client) => {
    await client.a.mustCreate(client.newPlant());
    const { plants, exchange } = await client.b.listMarked(client.marker);
    expect(plants.length === 0, exchange, 'no plant of user A');
  }),
  must(
    'isolation-delete',
    'respond with 404 to the DELETE of another user’s plant, and keep it',
    source,
    async (client) => {
      const plant = client.newPlant();
      await client.a.mustCreate(plant);
      expectError(await client.b.remove(plant.id), 404);
      const { plants, exchange } = await client.a.listMarked(client.marker);
      expect(plants.length === 1, exchange, `the plant ${plant.name}`);
    },
  ),
  must(
    'isolation-no-oracle',
    'respond in the same way to the DELETE of an absent and of another user’s plant',
    source,
    async (client) => {
      const plant = client.newPlant();
      const absent = await client.b.remove(plant.id);
      await client.a.mustCreate(plant);
      const foreign = await client.b.remove(plant.id);
      expect(essence(foreign) === essence(absent), foreign, `the response for an absent plant: ${essence(absent)}`);
    },
  ),
  must('isolation-same-id', 'let two users hold the same id', source, async (client) => {
    const { id, name } = client.newPlant();
    await client.a.mustCreate({ id, name });
    const other = { name: client.newName(), tag: 'of user B' };
    expectPlant(await client.b.create({ id, ...other }), other);
    const { plants, exchange } = await client.a.listMarked(client.marker);
    expect(plants.length === 1 && plants[0]?.name === name, exchange, `the plant ${name} only`);
  }),
  must(
    'isolation-delete-same-id',
    'delete only the caller’s plant if two users hold the same id',
    source,
    async (client) => {
      const { id, name } = client.newPlant();
      await client.a.mustCreate({ id, name });
      await client.b.mustCreate({ id, name: client.newName() });
      expectStatus(await client.b.remove(id), 204);
      const { plants, exchange } = await client.a.listMarked(client.marker);
      expect(plants.length === 1 && plants[0]?.name === name, exchange, `the plant ${name}`);
    },
  ),
];
