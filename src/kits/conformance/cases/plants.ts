import { maxInt64, minInt64 } from '../../../core/model/int64.ts';
import type { CheckClient } from '../check-client.ts';
import { newPlantJson } from '../check-user.ts';
import type { CheckUser, NewPlant } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectJsonType, expectNoBody, expectPlant, expectStatus } from '../expect.ts';
import { checksOf, inTurn } from '../run-cases.ts';
import type { Check, CheckCase } from '../run-cases.ts';
import { invalidIds } from './bad-input.ts';

/** Sends a request eight times concurrently. Checks that it succeeds once, and that the other responses are errors. */
async function expectOnce(send: () => Promise<Exchange>, success: number, refusal: number): Promise<void> {
  const sent = await Promise.all(Array.from({ length: 8 }, send));
  const accepted = sent.filter(({ response }) => response.status === success);
  const refused = sent.filter((exchange) => !accepted.includes(exchange));
  for (const exchange of refused) await expectError(exchange, refusal);
  const [first = refused[0], second] = accepted;
  if (first !== undefined) await expectStatus(first, success);
  if (second !== undefined) await expectStatus(second, refusal);
}

export const createCases: readonly CheckCase[] = checksOf('Create Plant', {
  'create-200 MUST respond to a valid POST /plants with 200': (c, plant) =>
    expectStatus(c.a.create({ ...plant, tag: 'indoor' }), 200),
  'create-response MUST respond to POST /plants with the name and the tag only': (c, plant) =>
    c.expectCreated({ ...plant, tag: 'indoor' }),
  'create-media-type MUST declare the response to POST /plants as application/json': (c, plant) =>
    expectJsonType(c.a.create(plant)),
  'create-visible MUST list a plant as soon as its creation is acknowledged': async (c, { id, name }) => {
    await c.a.mustCreate({ id, name, tag: 'indoor' });
    const { plants, exchange } = await c.listMine();
    const isListed = plants.length === 1 && plants[0]?.name === name && plants[0].tag === 'indoor';
    expect(isListed, exchange, `the plant ${name} with the tag "indoor"`);
  },
  'create-without-tag MUST omit the tag of a plant that has none [absent tag]': async (c, plant) => {
    await c.expectCreated(plant);
    await c.expectStored(plant);
  },
  'create-empty-strings MUST accept and keep an empty name and an empty tag [name, tag]': async (c, { id }) => {
    const plant = { id, name: '', tag: '' };
    await c.expectCreated(plant);
    await c.expectStored(plant);
  },
  'create-unknown-fields MUST ignore unknown fields of a NewPlant [name, tag]': (c, { id, name }) => {
    const nested = newPlantJson({ id: id + 1n, name: 'other', tag: 'other' });
    const body = `{"colour":"green","parent":${nested},"id":${id},"name":"${name}","list":[${nested}]}`;
    return expectPlant(c.a.post(body, id, id + 1n), { name });
  },
  'create-field-order MUST accept the fields of a NewPlant in any order [RFC 8259 §4]': (c, { id, name }) =>
    expectPlant(c.a.post(` {\n"tag" : "indoor",\t"name":"${name}",\r\n"id": ${id} } `, id), { name, tag: 'indoor' }),
  'create-media-type-parameters MUST accept application/json in any case and with charset=utf-8 [RFC 9110 §8.3.1]': (
    c,
  ) => {
    const types = ['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"'];
    return inTurn(types, (type) => {
      const plant = c.newPlant();
      return expectPlant(c.a.create(plant, { 'content-type': type }), plant);
    });
  },
  'create-long-name MUST accept a name of 10,000 characters [name, tag]': (c, { id, name }) =>
    c.expectCreated({ id, name: name.padEnd(10_000, 'x') }),
  'create-same-name MUST accept plants with equal names and tags [name, tag]': async (c, { id, name }) => {
    const plants = [id, c.newId()].map((each) => ({ id: each, name, tag: 'indoor' }));
    await inTurn(plants, (plant) => c.expectCreated(plant));
    await c.expectMine(plants);
  },
});

export const takenIdCases: readonly CheckCase[] = checksOf('id taken', {
  'taken-id-400 MUST respond with 400 to a NewPlant whose id the user already has': async (c) => {
    const plant = await c.createPlant();
    await expectError(c.a.create(c.newPlant(plant.id)), 400);
    await expectError(c.a.create(plant), 400);
  },
  'taken-id-unchanged MUST leave the stored plant as it is if its id is taken': async (c, { id, name }) => {
    const plant = { id, name, tag: 'first' };
    await c.a.mustCreate(plant);
    await c.a.create({ ...c.newPlant(id), tag: 'second' });
    await c.expectStored(plant);
  },
  'taken-id-free-again MUST accept the id of a deleted plant again': async (c) => {
    const { id } = await c.createPlant();
    await c.a.remove(id);
    await c.expectCreated(c.newPlant(id));
  },
  'taken-id-once MUST create a plant exactly once if the same request arrives many times at once': (c, plant) =>
    expectOnce(() => c.a.create(plant), 200, 400),
});

export const deleteCases: readonly CheckCase[] = checksOf('Delete Plant', {
  'delete-204 MUST respond to the DELETE of a plant with 204 and no body': async (c) =>
    expectNoBody(c.a.remove((await c.createPlant()).id), 204),
  'delete-gone MUST NOT list a deleted plant': async (c) => {
    const [kept, { id }] = [await c.createPlant(), await c.createPlant()];
    await c.a.remove(id);
    await c.expectMine([kept]);
  },
  'delete-absent MUST respond with 404 to the DELETE of an absent plant': ({ a }, { id }) =>
    expectError(a.remove(id), 404),
  'delete-twice MUST respond with 404 to a second DELETE': async (c) => {
    const { id } = await c.createPlant();
    await c.a.remove(id);
    await expectError(c.a.remove(id), 404);
  },
  'delete-once MUST delete a plant exactly once if the same request arrives many times at once': async (c) => {
    const { id } = await c.createPlant();
    await expectOnce(() => c.a.remove(id), 204, 404);
  },
  'delete-invalid-id MUST respond with 400 to an id that is not a decimal int64 [{id}]': async (c) =>
    inTurn(invalidIds((await c.createPlant()).id), (id) => expectError(c.a.remove(id), 400)),
  'delete-out-of-range MUST respond with 400 to the DELETE of an id beyond int64 [{id}]': async (c) => {
    // A faulty server might replace the id with the nearest int64 and delete the plant with that id. To protect the
    // user's plants, this check creates the plants with the largest and the smallest id itself. If the user already has
    // a plant with one of these ids, the check is not run.
    for (const id of [maxInt64, minInt64]) await c.createAtFixedId(id);
    for (const id of [maxInt64 + 1n, minInt64 - 1n]) await expectError(c.a.remove(id), 400);
  },
  'delete-encoded SHOULD accept percent-encoded digits in the path [RFC 3986 §6.2.2.2]': async (c, { id }) => {
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

/** A check of what the user `other` can do with a plant that the user `owner` has created. */
type IsolationCheck = (client: CheckClient, plant: NewPlant, owner: CheckUser, other: CheckUser) => Promise<void>;

/**
 * Returns a check that calls `check` twice: first with a plant of user A, and then with a plant of user B. A server
 * might separate two users in one direction only, for example if it compares only the beginning of user names.
 */
function isolates(check: IsolationCheck): Check {
  return async (client) => {
    await check(client, await client.createPlant(client.a), client.a, client.b);
    client.beginCase();
    await check(client, await client.createPlant(client.b), client.b, client.a);
  };
}

/** Returns the parts of a response that must not depend on the plants of other users. */
function essence({ response }: Exchange): string {
  return `${response.status} ${[...response.headers.keys()].toSorted().join()} ${response.text}`;
}

export const isolationCases: readonly CheckCase[] = checksOf('access', {
  'isolation-list MUST NOT list the plants of other users': isolates((c, _, __, other) => c.expectMine([], other)),
  'isolation-delete MUST respond with 404 to the DELETE of another user’s plant, and keep it': isolates(
    async (c, plant, owner, other) => {
      await expectError(other.remove(plant.id), 404);
      await c.expectMine([plant], owner);
    },
  ),
  'isolation-no-oracle MUST respond in the same way to the DELETE of an absent and of another user’s plant': isolates(
    async (c, _, owner, other) => {
      const plant = c.newPlant();
      const absent = essence(await other.remove(plant.id));
      await owner.mustCreate(plant);
      const foreign = await other.remove(plant.id);
      expect(essence(foreign) === absent, foreign, `the response for an absent plant: ${c.redact(absent)}`);
    },
  ),
  'isolation-same-id MUST let two users hold the same id': isolates(async (c, plant, owner, other) => {
    await c.expectCreated({ ...c.newPlant(plant.id), tag: 'of the other user' }, other);
    await c.expectMine([plant], owner);
  }),
  'isolation-delete-same-id MUST delete only the caller’s plant if two users hold the same id': isolates(
    async (c, plant, owner, other) => {
      await other.mustCreate(c.newPlant(plant.id));
      await expectStatus(other.remove(plant.id), 204);
      await c.expectMine([plant], owner);
    },
  ),
});
