import type { Client, NewPlant, User } from '../client.ts';
import type { Exchange } from '../exchange.ts';

/** Maps the integer of each error to a request that causes the error. */
export const failures: Readonly<Record<number, (a: User, plant: NewPlant, c: Client) => Promise<Exchange>>> = {
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
