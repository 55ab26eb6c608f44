import { checksOf } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import { newPlantJson } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError } from '../expect.ts';
import {
  defects,
  invalidAfters,
  invalidIds,
  invalidLimits,
  latin1Plant,
  malformedJson,
  otherMediaTypes,
  postInvalid,
  unknownToken,
} from './bad-input.ts';

/** Sends requests that cause one kind of error, and yields the exchanges. */
type Cause = (client: CheckClient) => AsyncGenerator<Exchange>;

function code(integer: number, name: string, what: string, cause: Cause): CheckCase[] {
  return checksOf('error integer', {
    [`code-${name} SHOULD respond with the error ${integer} to ${what}`]: async (client) => {
      for await (const exchange of cause(client)) {
        const { error } = await expectError(exchange, Math.floor(integer / 100));
        expect(error === integer, exchange, `the error ${integer}`);
      }
    },
  });
}

/** Checks of the `error` field in error responses, for every error that a client can cause. */
export const errorCodeCases: readonly CheckCase[] = [
  ...code(40001, 'invalid-json', 'a body that is not JSON', async function* (c) {
    const plant = c.newPlant();
    for (const body of malformedJson(newPlantJson(plant))) yield c.a.post(body, plant.id);
    yield c.a.post(latin1Plant(plant.id), plant.id);
    yield c.a.post('');
  }),
  ...code(40002, 'invalid-plant', 'a body that is not a NewPlant', async function* (c) {
    const id = c.newId(2);
    for (const defect of defects) yield* postInvalid(c, id, defect);
  }),
  ...code(40003, 'id-taken', 'an id that the user already has', async function* (c) {
    yield c.a.create(await c.createPlant());
  }),
  ...code(40004, 'invalid-id', 'a path whose id is not an int64', async function* (c) {
    // '%zz' makes the request malformed (RFC 3986 §2.1). A proxy may therefore refuse it with another error.
    const ids = invalidIds(c.newId()).filter((id) => id !== '%zz');
    for (const id of ids) yield c.a.remove(id);
  }),
  ...code(40005, 'invalid-limit', 'an invalid limit', async function* ({ a }) {
    for (const limit of [...invalidLimits, '1&limit=1']) yield a.list(`limit=${limit}`);
  }),
  ...code(40006, 'invalid-after', 'an invalid after', async function* ({ a }) {
    for (const after of [...invalidAfters, '1&after=1']) yield a.list(`after=${after}`);
  }),
  ...code(40007, 'invalid-media-type', 'a body of another media type', async function* ({ a }) {
    for (const type of [...otherMediaTypes, undefined]) {
      yield a.send('POST /plants', { body: '{}', headers: { 'content-type': type } });
    }
    // This body is not JSON either, but the media type must be checked first.
    yield a.send('POST /plants', { body: 'x', headers: { 'content-type': 'text/plain' } });
  }),
  ...code(40101, 'missing-credentials', 'a request without a bearer token', async function* ({ anonymous }) {
    for (const authorization of [undefined, 'Basic YTpi']) {
      yield anonymous.send('GET /plants', { headers: { authorization } });
    }
  }),
  ...code(40102, 'invalid-token', 'an unknown or malformed token', async function* ({ anonymous }) {
    for (const authorization of [unknownToken, 'Bearer', 'Bearer a b']) {
      yield anonymous.send('GET /plants', { headers: { authorization } });
    }
  }),
  ...code(40300, 'insufficient-scope', 'a read-only token that writes', async function* (c) {
    yield c.readOnly().remove(c.newId());
  }),
  ...code(40401, 'route-not-found', 'an unknown path', async function* ({ a }) {
    yield a.send('GET /no-such-path');
  }),
  ...code(40402, 'plant-not-found', 'the DELETE of an absent plant', async function* (c) {
    yield c.a.remove(c.newId());
  }),
  ...code(40500, 'method-not-allowed', 'an unsupported method', async function* ({ a }) {
    yield a.send('PATCH /plants');
  }),
  ...code(40002, 'shape-before-state', 'an invalid NewPlant whose id is taken', async function* (c) {
    const { id } = await c.createPlant();
    yield c.a.post(`{"id":${id}}`, id);
  }),
];
