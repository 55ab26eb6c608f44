import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import { checksOf } from '../check-case.ts';
import type { Check, CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { CheckUser } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectNoBody, expectStatus } from '../expect.ts';
import { invalidIds } from './bad-input.ts';
import { expectOnce } from './stored.ts';

/** Checks of DELETE /plants/{id}. */
export const deleteCases: readonly CheckCase[] = checksOf('Delete Plant', {
  'delete-204 MUST respond to the DELETE of a plant with 204 and no body': async (c) => {
    const { id } = await c.createPlant();
    await expectNoBody(expectStatus(c.a.remove(id), 204));
  },
  'delete-gone MUST NOT list a deleted plant': async (c) => {
    const [kept, deleted] = [await c.createPlant(), await c.createPlant()];
    await c.a.remove(deleted.id);
    await c.expectMine([kept.name], `the plant ${kept.name} only`);
  },
  'delete-absent MUST respond with 404 to the DELETE of an absent plant': (c) =>
    expectError(c.a.remove(c.newId()), 404),
  'delete-twice MUST respond with 404 to a second DELETE': async (c) => {
    const { id } = await c.createPlant();
    await c.a.remove(id);
    await expectError(c.a.remove(id), 404);
  },
  'delete-once MUST delete a plant exactly once if the same request arrives many times at once': async (c) => {
    const { id } = await c.createPlant();
    await expectOnce(() => c.a.remove(id), 204, 404);
  },
  'delete-invalid-id MUST respond with 400 to an id that is not a decimal int64 [{id}]': async (c) => {
    const plant = await c.createPlant();
    for (const id of invalidIds(plant.id)) await expectError(c.a.remove(id), 400);
  },
  'delete-out-of-range MUST respond with 400 to the DELETE of an id beyond int64 [{id}]': async (c) => {
    // A faulty server may replace the id with the nearest int64 and delete the plant with that id. This check therefore
    // creates the plants with the largest and the smallest int64 itself, and does not run if the user already has them.
    for (const id of [maxInt64, minInt64]) await c.createAtFixedId(id);
    for (const id of [maxInt64 + 1n, minInt64 - 1n]) await expectError(c.a.remove(id), 400);
  },
  'delete-encoded SHOULD accept percent-encoded digits in the path [RFC 3986 §6.2.2.2]': async (c) => {
    const id = c.newId();
    for (const plant of await c.createAt(id, -id)) {
      const encoded = String(plant.id).replaceAll(/[\d-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
      await expectStatus(c.a.remove(encoded), 204);
    }
  },
  'delete-with-content SHOULD ignore the content of a DELETE [RFC 9110 §9.3.5]': async (c) => {
    const { id } = await c.createPlant();
    await expectStatus(c.a.send(`DELETE /plants/${id}`, { body: `{"id":${id}}` }), 204);
  },
});

/**
 * Returns a check that runs twice: user A owns the plants first, and then user B does. A server may separate two users
 * in one direction only, for example if it compares only the beginning of the names of users.
 */
function isolates(run: (client: CheckClient, owner: CheckUser, other: CheckUser) => Promise<void>): Check {
  return async (client) => {
    await run(client, client.a, client.b);
    client.beginCase();
    await run(client, client.b, client.a);
  };
}

/**
 * Returns the parts of a response that must not depend on the plants of other users: the status, the body and the names
 * of the headers.
 */
function essence({ response }: Exchange): string {
  return `${response.status} ${[...response.headers.keys()].toSorted().join()} ${response.text}`;
}

/** Checks that users can access only their own plants. */
export const isolationCases: readonly CheckCase[] = checksOf('access', {
  'isolation-list MUST NOT list the plants of other users': isolates(async (c, owner, other) => {
    await c.createPlant(owner);
    await c.expectMine([], 'no plant of the other user', other);
  }),
  'isolation-delete MUST respond with 404 to the DELETE of another user’s plant, and keep it': isolates(
    async (c, owner, other) => {
      const { id, name } = await c.createPlant(owner);
      await expectError(other.remove(id), 404);
      await c.expectMine([name], `the plant ${name}`, owner);
    },
  ),
  'isolation-no-oracle MUST respond in the same way to the DELETE of an absent and of another user’s plant': isolates(
    async (c, owner, other) => {
      const plant = c.newPlant();
      const absent = essence(await other.remove(plant.id));
      await owner.mustCreate(plant);
      const foreign = await other.remove(plant.id);
      expect(essence(foreign) === absent, foreign, `the response for an absent plant: ${c.redact(absent)}`);
    },
  ),
  'isolation-same-id MUST let two users hold the same id': isolates(async (c, owner, other) => {
    const { id, name } = await c.createPlant(owner);
    await c.expectCreated({ id, name: c.newName(), tag: 'of the other user' }, other);
    await c.expectMine([name], `the plant ${name} only`, owner);
  }),
  'isolation-delete-same-id MUST delete only the caller’s plant if two users hold the same id': isolates(
    async (c, owner, other) => {
      const { id, name } = await c.createPlant(owner);
      await other.mustCreate({ id, name: c.newName() });
      await expectStatus(other.remove(id), 204);
      await c.expectMine([name], `the plant ${name}`, owner);
    },
  ),
});
