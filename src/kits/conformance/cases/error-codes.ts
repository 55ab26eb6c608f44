import { plantStore, should } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { newPlantJson } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError } from '../expect.ts';
import { invalidIds } from './delete.ts';
import { latin1Plant, malformedJson, otherMediaTypes } from './invalid-bodies.ts';
import { invalidPlants } from './invalid-plants.ts';
import { invalidLimits } from './list.ts';
import { invalidAfters } from './paging.ts';

/** Sends requests that cause one kind of error, and yields the exchanges. */
type Cause = (client: CheckClient) => AsyncGenerator<Exchange>;

function code(integer: number, name: string, what: string, cause: Cause): CheckCase {
  const rule = `respond with the error ${integer} to ${what}`;
  return should(`code-${name}`, rule, plantStore('error integer'), async (client) => {
    for await (const exchange of cause(client)) {
      const { error } = expectError(exchange, Math.floor(integer / 100));
      expect(error === integer, exchange, `the error ${integer}`);
    }
  });
}

/** Checks of the `error` field in error responses, for every error that a client can cause. */
export const errorCodeCases: readonly CheckCase[] = [
  code(40001, 'invalid-json', 'a body that is not JSON', async function* (client) {
    const plant = client.newPlant();
    for (const body of malformedJson(newPlantJson(plant))) yield client.a.post(body, [plant.id]);
    yield client.a.post(latin1Plant(plant.id), [plant.id]);
    yield client.a.post('', []);
  }),
  code(40002, 'invalid-plant', 'a body that is not a NewPlant', async function* (client) {
    const id = client.newId(2);
    for (const bodiesOf of Object.values(invalidPlants)) {
      for (const body of bodiesOf(id, client.newName())) yield client.a.post(body, [id, id + 1n, -id, -id - 1n]);
    }
  }),
  code(40003, 'id-taken', 'an id that the user already has', async function* (client) {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    yield client.a.create(plant);
  }),
  code(40004, 'invalid-id', 'a path whose id is not an int64', async function* (client) {
    // '%zz' makes the request malformed (RFC 3986 §2.1). A proxy may therefore refuse it with another error.
    const ids = invalidIds(client.newId()).filter((id) => id !== '%zz');
    for (const id of ids) yield client.a.remove(id);
  }),
  code(40005, 'invalid-limit', 'an invalid limit', async function* ({ a }) {
    for (const limit of invalidLimits) yield a.list(`limit=${limit}`);
    yield a.list('limit=1&limit=1');
  }),
  code(40006, 'invalid-after', 'an invalid after', async function* ({ a }) {
    for (const after of invalidAfters) yield a.list(`after=${after}`);
    yield a.list('after=1&after=1');
  }),
  code(40007, 'invalid-media-type', 'a body of another media type', async function* (client) {
    for (const type of [...otherMediaTypes, undefined]) {
      yield client.a.send('POST', '/plants', { body: '{}', headers: { 'content-type': type } });
    }
    // This body is not JSON either, but the media type must be checked first.
    yield client.a.send('POST', '/plants', { body: 'x', headers: { 'content-type': 'text/plain' } });
  }),
  code(40101, 'missing-credentials', 'a request without a bearer token', async function* ({ anonymous }) {
    yield anonymous.list();
    yield anonymous.send('GET', '/plants', { headers: { authorization: 'Basic YTpi' } });
  }),
  code(40102, 'invalid-token', 'an unknown or malformed token', async function* ({ anonymous }) {
    for (const authorization of ['Bearer plant-store-check-unknown-token', 'Bearer', 'Bearer a b']) {
      yield anonymous.send('GET', '/plants', { headers: { authorization } });
    }
  }),
  code(40300, 'insufficient-scope', 'a read-only token that writes', async function* (client) {
    yield client.readOnly().remove(client.newId());
  }),
  code(40401, 'route-not-found', 'an unknown path', async function* ({ a }) {
    yield a.send('GET', '/no-such-path');
  }),
  code(40402, 'plant-not-found', 'the DELETE of an absent plant', async function* (client) {
    yield client.a.remove(client.newId());
  }),
  code(40500, 'method-not-allowed', 'an unsupported method', async function* ({ a }) {
    yield a.send('PATCH', '/plants');
  }),
  code(40002, 'shape-before-state', 'an invalid NewPlant whose id is taken', async function* (client) {
    const plant = client.newPlant();
    await client.a.mustCreate(plant);
    yield client.a.post(`{"id":${plant.id}}`, [plant.id]);
  }),
];
