import type { CheckClient } from '../check-client.ts';
import type { CheckUser } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';

/** Invalid values of `limit`, which must be a single integer from 0 to 2147483647. */
export const invalidLimits: readonly string[] = ',-1,-0,%2B1,1.5,1e3,0x10,x,%201,2147483648,99999999999999999999'.split(
  ',',
);

/** Invalid values of `after`, which must be a single int64. */
export const invalidAfters: readonly string[] = ',x,1.0,1e3,+,9223372036854775808,-9223372036854775809,%00'.split(',');

/** The `Authorization` header with a token that no server accepts. */
export const unknownToken = 'Bearer plant-store-check-unknown-token';

/**
 * Returns path segments that are not valid decimal int64 values. A faulty server might interpret some of them as `id`,
 * so `id` must be an id that only this check uses.
 */
export function invalidIds(id: bigint): string[] {
  const hex = id.toString(16);
  const digits = [`${id}.0`, `${id}e0`, `+${id}`, `0x${hex}`, `${id}x`, `%20${id}`, `${id}%20`, `${id}%2F${id}`];
  const eastern = Array.from(String(id), (digit) => encodeURIComponent(String.fromCodePoint(0x660 + Number(digit))));
  return ['x', '-', '%20', '%zz', ...digits, eastern.join(''), `${id}`.repeat(100)];
}

/**
 * Sends one request for each kind of error that is possible without a read-only token. Sends all requests as `user`,
 * except the request without credentials.
 */
export async function failAll({ anonymous, a }: CheckClient, user: CheckUser = a): Promise<Exchange[]> {
  return [
    await user.send('POST /plants', { body: '{' }),
    await user.send('POST /plants', { body: '{}' }),
    await user.list('limit=x'),
    await user.remove('x'),
    await anonymous.list(),
    await user.send('GET /no-such-path'),
    await user.send('PATCH /plants'),
  ];
}
