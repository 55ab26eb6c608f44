import type { Client, NewPlant, User } from '../client.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, inTurn } from '../expect.ts';
import type { Checks } from '../expect.ts';

/** A request body that is neither JSON nor declared as JSON. */
export const garbage = { body: 'x', headers: { 'content-type': 'text/plain' } };

/** Maps the integer of each error to a request that causes the error. */
const failures: Readonly<Record<number, (a: User, plant: NewPlant, c: Client) => Promise<Exchange>>> = {
  40001: (a) => a.post('{'),
  40002: (a) => a.post('{}'),
  40003: async (a, plant) => (await a.create(plant), a.create(plant)),
  40004: (a) => a.remove('x'),
  40005: (a) => a.list('limit=x'),
  40006: (a) => a.list('after=x'),
  40007: (a, plant) => a.create(plant, { 'content-type': 'text/plain' }),
  40101: (_, __, { anonymous }) => anonymous.list(),
  40102: (_, __, { stranger }) => stranger.list(),
  40401: (a) => a.send('GET /no-such-path'),
  40402: (a, { id }) => a.remove(id),
  40500: (a) => a.send('PATCH /plants'),
};

export const errorChecks: Checks = {
  'error-integer MUST send an Error with the documented integer with every error': async (c) => {
    for (const [integer, fail] of Object.entries(failures)) {
      const sent = await fail(c.a, c.newPlant(), c);
      const found = await expectError(sent, Math.floor(Number(integer) / 100));
      expect(found === Number(integer), sent, `the error ${integer}`);
    }
  },
  'error-unknown-path MUST respond to an unknown path with 404': ({ a }) =>
    inTurn(['/', '/plants/', '/Plants', '/plants/1/2', '/plant', '/openapi'], (target) =>
      expectError(a.send(`GET ${target}`), 404),
    ),
};

export const orderChecks: Checks = {
  'order-path MUST check the path and the method before the credentials': async ({ anonymous }) => {
    await expectError(anonymous.send('GET /no-such-path'), 404);
    await expectError(anonymous.send('PATCH /plants'), 405);
  },
  'order-credentials MUST check the credentials before the body, the query string and the id': async ({
    anonymous,
  }) => {
    await inTurn([garbage, { body: '{}' }, { body: '' }, {}], (parts) =>
      expectError(anonymous.send('POST /plants', parts), 401),
    );
    await inTurn(['limit', 'after'], (name) => expectError(anonymous.list(`${name}=x`), 401));
    await expectError(anonymous.remove('x'), 401);
  },
};
