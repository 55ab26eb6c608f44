import type { Client, NewPlant, User } from '../client.ts';
import type { Exchange } from '../exchange.ts';

/** Invalid values of `limit`, which must be a single integer from 0 to 2147483647. */
export const invalidLimits: readonly string[] =
  ',-1,%2B1,1.5,1e3,0x10,x,%201,2147483648,99999999999999999999,1&limit=2'.split(',');

/** Invalid values of `after`, which must be a single int64. */
export const invalidAfters: readonly string[] =
  ',x,1.0,1e3,+,9223372036854775808,-9223372036854775809,%00,1&after=1'.split(',');

export const unknownToken = 'Bearer plant-store-check-unknown-token';

/** Returns path segments that are not decimal int64 values. A faulty server might take some of them for `id`. */
export function invalidIds(id: bigint): string[] {
  const templates = ['#.0', '#e0', '+#', '#x', '%20#', '#%20', '#%2F#'];
  const eastern = Array.from(String(id), (digit) => encodeURIComponent(String.fromCodePoint(0x660 + Number(digit))));
  return [
    ...['x', '-', '%20', `0x${id.toString(16)}`, eastern.join(''), `${id}`.repeat(100)],
    ...templates.map((template) => template.replaceAll('#', String(id))),
  ];
}

/** Maps the integer of each error to the name of its test and a request that causes the error. */
export const failures: Readonly<
  Record<number, [name: string, fail: (c: Client, user: User, plant: NewPlant) => Promise<Exchange>]>
> = {
  40001: ['code-invalid-json', (_, user) => user.post('{')],
  40002: ['code-invalid-plant', (_, user) => user.post('{}')],
  40003: ['code-id-taken', async (_, user, plant) => (await user.create(plant), user.create(plant))],
  40004: ['code-invalid-id', (_, user) => user.remove('x')],
  40005: ['code-invalid-limit', (_, user) => user.list('limit=x')],
  40006: ['code-invalid-after', (_, user) => user.list('after=x')],
  40007: ['code-invalid-media-type', (_, user, plant) => user.create(plant, { 'content-type': 'text/plain' })],
  40101: ['code-missing-credentials', ({ anonymous }) => anonymous.list()],
  40102: ['code-invalid-token', ({ anonymous }) => anonymous.list('', { authorization: unknownToken })],
  40401: ['code-route-not-found', (_, user) => user.send('GET /no-such-path')],
  40402: ['code-plant-not-found', (_, user, { id }) => user.remove(id)],
  40500: ['code-method-not-allowed', (_, user) => user.send('PATCH /plants')],
};

export async function failAll(c: Client, user: User = c.a): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  for (const [, fail] of Object.values(failures)) sent.push(await fail(c, user, c.newPlant()));
  return sent;
}
