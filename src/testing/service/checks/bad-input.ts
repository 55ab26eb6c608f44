import type { Client, User } from '../client.ts';
import type { Exchange } from '../exchange.ts';

/** Invalid values of `limit`, which must be a single integer from 0 to 2147483647. */
export const invalidLimits: readonly string[] =
  ',-1,%2B1,1.5,1e3,0x10,x,%201,2147483648,99999999999999999999,1&limit=2'.split(',');

/** Invalid values of `after`, which must be a single int64. */
export const invalidAfters: readonly string[] =
  ',x,1.0,1e3,+,9223372036854775808,-9223372036854775809,%00,1&after=1'.split(',');

/** The `Authorization` header with a token that no server accepts. */
export const unknownToken = 'Bearer plant-store-check-unknown-token';

/** Returns path segments that are not decimal int64 values. A faulty server might take some of them for `id`. */
export function invalidIds(id: bigint): string[] {
  const digits = [
    `${id}.0`,
    `${id}e0`,
    `+${id}`,
    `0x${id.toString(16)}`,
    `${id}x`,
    `%20${id}`,
    `${id}%20`,
    `${id}%2F${id}`,
  ];
  const eastern = Array.from(String(id), (digit) => encodeURIComponent(String.fromCodePoint(0x660 + Number(digit))));
  return ['x', '-', '%20', ...digits, eastern.join(''), `${id}`.repeat(100)];
}

/** Sends one request for each kind of error that is possible without a read-only token. */
export async function failAll({ anonymous, a }: Client, user: User = a): Promise<Exchange[]> {
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
