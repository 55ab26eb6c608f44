import { must, plantStore } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { CheckUser } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectPlant, expectStatus } from '../expect.ts';

/**
 * Returns the parts of a response that must not depend on the plants of other users: the status, the body and the names
 * of the headers.
 */
function essence({ response }: Exchange): string {
  return `${response.status} ${[...response.headers.keys()].toSorted().join()} ${response.text}`;
}

/**
 * Returns a check that runs twice: user A owns the plants first, and then user B does. A server may separate two users
 * in one direction only, for example if it compares only the beginning of the names of users.
 */
function isolates(
  id: string,
  rule: string,
  run: (client: CheckClient, owner: CheckUser, other: CheckUser) => Promise<void>,
): CheckCase {
  return must(`isolation-${id}`, rule, plantStore('access'), async (client) => {
    await run(client, client.a, client.b);
    client.beginCase();
    await run(client, client.b, client.a);
  });
}

/** Checks that users can access only their own plants. */
export const isolationCases: readonly CheckCase[] = [
  isolates('list', 'NOT list the plants of other users', async (client, owner, other) => {
    await owner.mustCreate(client.newPlant());
    const { plants, exchange } = await other.listMarked(client.marker);
    expect(plants.length === 0, exchange, 'no plant of the other user');
  }),
  isolates(
    'delete',
    'respond with 404 to the DELETE of another user’s plant, and keep it',
    async (client, owner, other) => {
      const plant = client.newPlant();
      await owner.mustCreate(plant);
      expectError(await other.remove(plant.id), 404);
      const { plants, exchange } = await owner.listMarked(client.marker);
      expect(plants.length === 1, exchange, `the plant ${plant.name}`);
    },
  ),
  isolates(
    'no-oracle',
    'respond in the same way to the DELETE of an absent and of another user’s plant',
    async (client, owner, other) => {
      const plant = client.newPlant();
      const absent = await other.remove(plant.id);
      await owner.mustCreate(plant);
      const foreign = await other.remove(plant.id);
      expect(
        essence(foreign) === essence(absent),
        foreign,
        `the response for an absent plant: ${client.redact(essence(absent))}`,
      );
    },
  ),
  isolates('same-id', 'let two users hold the same id', async (client, owner, other) => {
    const { id, name } = client.newPlant();
    await owner.mustCreate({ id, name });
    const second = { name: client.newName(), tag: 'of the other user' };
    expectPlant(await other.create({ id, ...second }), second);
    const { plants, exchange } = await owner.listMarked(client.marker);
    expect(plants.length === 1 && plants[0]?.name === name, exchange, `the plant ${name} only`);
  }),
  isolates(
    'delete-same-id',
    'delete only the caller’s plant if two users hold the same id',
    async (client, owner, other) => {
      const { id, name } = client.newPlant();
      await owner.mustCreate({ id, name });
      await other.mustCreate({ id, name: client.newName() });
      expectStatus(await other.remove(id), 204);
      const { plants, exchange } = await owner.listMarked(client.marker);
      expect(plants.length === 1 && plants[0]?.name === name, exchange, `the plant ${name}`);
    },
  ),
];
