import { newPlantJson } from '../client.ts';
import type { Client, NewPlant, User } from '../client.ts';
import { Unexpected } from '../exchange.ts';
import type { Exchange } from '../exchange.ts';
import {
  createAt,
  createPlant,
  expect,
  expectError,
  expectJson,
  expectMine,
  expectNoBody,
  expectPlant,
} from '../expect.ts';
import { expectStatus, expectStored, inTurn, mustCreate } from '../expect.ts';
import type { Check, Checks } from '../expect.ts';
import { invalidIds } from './bad-input.ts';

/** Sends a request eight times concurrently. Checks that it succeeds once, and that the other responses are errors. */
async function expectOnce(send: () => Promise<Exchange>, success: number, refusal: number): Promise<void> {
  const sent = await Promise.all(Array.from({ length: 8 }, send));
  const refused = sent.filter(({ status }) => status !== success);
  for (const exchange of refused) await expectError(exchange, refusal);
  const accepted = sent.length - refused.length;
  if (accepted !== 1) throw new Unexpected(`status ${success} once, not ${accepted} times`, sent[0]);
}

export const createChecks: Checks = {
  'create-200 MUST respond to a valid POST /plants with 200 and the Plant, as application/json': async (c, plant) => {
    const created = await expectStatus(c.a.create({ ...plant, tag: 'indoor' }), 200);
    await expectPlant(created, { ...plant, tag: 'indoor' });
    expectJson(created);
  },
  'create-visible MUST list a plant as soon as its creation is acknowledged': async (c, plant) => {
    await mustCreate(c.a, plant);
    await expectMine(c, [plant]);
  },
  'create-without-tag MUST omit the tag of a plant that has none': async (c, plant) => {
    await expectPlant(c.a.create(plant), plant);
    await expectStored(c, plant);
  },
  'create-unknown-fields MUST ignore unknown fields of a NewPlant': (c, { id, name }) => {
    const nested = newPlantJson({ id: id + 1n, name: 'other', tag: 'other' });
    const body = `{"colour":"green","parent":${nested},"id":${id},"name":"${name}","list":[${nested}]}`;
    return expectPlant(c.a.post(body, id, c.newId()), { name });
  },
  'create-field-order MUST accept the fields of a NewPlant in any order [RFC 8259 §4]': (c, { id, name }) =>
    expectPlant(c.a.post(` {\n"tag" : "indoor",\t"name":"${name}",\r\n"id": ${id} } `, id), { name, tag: 'indoor' }),
  'create-media-type MUST accept application/json in any case and with charset=utf-8 [RFC 9110 §8.3.1]': (c) =>
    inTurn(['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"'], (type) => {
      const plant = c.newPlant();
      return expectPlant(c.a.create(plant, { 'content-type': type }), plant);
    }),
  'create-same-name MUST accept plants with equal names and tags': async (c, plant) => {
    const plants = [plant, { ...plant, id: c.newId() }];
    await mustCreate(c.a, ...plants);
    await expectMine(c, plants);
  },
  'taken-id-400 MUST respond with 400 to a NewPlant whose id the user already has': async (c) => {
    const plant = await createPlant(c);
    await expectError(c.a.create(c.newPlant(plant.id)), 400);
    await expectError(c.a.create(plant), 400);
  },
  'taken-id-unchanged MUST leave the stored plant as it is if its id is taken': async (c, plant) => {
    await mustCreate(c.a, { ...plant, tag: 'first' });
    await c.a.create({ ...c.newPlant(plant.id), tag: 'second' });
    await expectStored(c, { ...plant, tag: 'first' });
  },
  'taken-id-free-again MUST accept the id of a deleted plant again': async (c, plant) => {
    await mustCreate(c.a, plant);
    await c.a.remove(plant.id);
    await expectPlant(c.a.create(plant), plant);
  },
  'taken-id-once MUST create a plant once if the same request arrives several times at once': (c, plant) =>
    expectOnce(() => c.a.create(plant), 200, 400),
};

export const deleteChecks: Checks = {
  'delete-204 MUST respond to the DELETE of a plant with 204 and no body': async (c) =>
    expectNoBody(c.a.remove((await createPlant(c)).id), 204),
  'delete-gone MUST NOT list a deleted plant': async (c) => {
    const [kept, { id }] = [await createPlant(c), await createPlant(c)];
    await c.a.remove(id);
    await expectMine(c, [kept]);
  },
  'delete-absent MUST respond with 404 to the DELETE of a plant that does not exist any more': async (c, { id }) => {
    await expectError(c.a.remove(id), 404);
    const plant = await createPlant(c);
    await c.a.remove(plant.id);
    await expectError(c.a.remove(plant.id), 404);
  },
  'delete-once MUST delete a plant once if the same request arrives several times at once': async (c) => {
    const { id } = await createPlant(c);
    await expectOnce(() => c.a.remove(id), 204, 404);
  },
  'delete-invalid-id MUST respond with 400 to an id that is not a decimal int64': async (c) => {
    const { id } = await createPlant(c);
    await inTurn(invalidIds(id), (segment) => expectError(c.a.remove(segment), 400));
  },
  'delete-encoded SHOULD accept percent-encoded digits in the path [RFC 3986 §6.2.2.2]': async (c, { id }) => {
    await createAt(c, id);
    const encoded = String(id).replaceAll(/\d/g, (digit) => `%3${digit}`);
    await expectStatus(c.a.remove(encoded), 204);
  },
  'delete-with-content SHOULD ignore the content of a DELETE [RFC 9110 §9.3.5]': async (c) => {
    const { id } = await createPlant(c);
    await expectStatus(c.a.send(`DELETE /plants/${id}`, { body: `{"id":${id}}` }), 204);
  },
};

/**
 * Returns a check that calls `check` with a plant of user A, and then with a plant of user B. A server might separate
 * users in one direction only, for example if it compares only the beginning of user names.
 */
function isolates(check: (client: Client, plant: NewPlant, owner: User, other: User) => Promise<unknown>): Check {
  return async (c) => {
    await check(c, await createPlant(c, c.a), c.a, c.b);
    c.beginTest();
    await check(c, await createPlant(c, c.b), c.b, c.a);
  };
}

/** Returns the parts of a response that must not depend on the plants of other users. */
function essence({ status, headers, text }: Exchange): string {
  return `status ${status} with ${[...headers.keys()].toSorted().join()} and ${text}`;
}

export const accessChecks: Checks = {
  'isolation-list MUST NOT list the plants of other users': isolates((c, _, __, other) => expectMine(c, [], other)),
  'isolation-delete MUST respond with 404 to the DELETE of another user’s plant, and keep it': isolates(
    async (c, plant, owner, other) => {
      await expectError(other.remove(plant.id), 404);
      await expectMine(c, [plant], owner);
    },
  ),
  'isolation-no-oracle MUST respond alike to the DELETE of an absent and of another user’s plant': isolates(
    async (c, _, owner, other) => {
      const plant = c.newPlant();
      const absent = essence(await other.remove(plant.id));
      await mustCreate(owner, plant);
      const foreign = await other.remove(plant.id);
      expect(essence(foreign) === absent, foreign, `the response for an absent plant: ${absent}`);
    },
  ),
  'isolation-same-id MUST let two users hold the same id': isolates(async (c, plant, owner, other) => {
    const same = c.newPlant(plant.id);
    await expectPlant(other.create(same), same);
    await expectMine(c, [plant], owner);
  }),
  'isolation-delete-same-id MUST delete only the caller’s plant if two users hold the same id': isolates(
    async (c, plant, owner, other) => {
      await mustCreate(other, c.newPlant(plant.id));
      await expectStatus(other.remove(plant.id), 204);
      await expectMine(c, [plant], owner);
    },
  ),
};
