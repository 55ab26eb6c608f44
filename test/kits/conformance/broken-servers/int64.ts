import { maxInt64 } from '../../../../src/core/model/int64.ts';
import { onBody, onRequest, onResponse } from './fault.ts';
import type { BrokenServer } from './fault.ts';

const rounded = (digits: string): string => BigInt(Number(digits)).toString();
const clamped = (digits: string): string => (BigInt(digits) > maxInt64 ? maxInt64.toString() : digits);
const int64s = /(?<=^\{"id":)-?\d{1,19}(?=,)/;

/** Servers that do not keep int64 ids exact. */
export const brokenInt64s: readonly BrokenServer[] = [
  { name: 'rounds ids in bodies', fails: 'int64-neighbours', break: onBody((body) => body.replace(int64s, rounded)) },
  {
    name: 'rounds ids in paths',
    fails: 'int64-delete-exact',
    break: onRequest((request) => ({
      ...request,
      target: request.target.replace(/(?<=^\/plants\/)\d{16,19}$/, rounded),
    })),
    leavesPlants: true,
  },
  {
    name: 'rounds after',
    fails: 'int64-after-exact',
    break: onRequest((request) => ({ ...request, target: request.target.replace(/(?<=after=)\d{16,19}/, rounded) })),
  },
  {
    name: 'rounds ids in Link',
    fails: 'link-exact',
    break: onResponse(({ headers }) => {
      const link = headers.get('link');
      return link === null ? {} : { headers: { link: link.replace(/(?<=after=)\d+/, rounded) } };
    }),
  },
  {
    name: 'stores an id beyond int64 under the largest one',
    fails: 'int64-out-of-range',
    break: onBody((body) => body.replace(/(?<="id":)\d{19,31}(?=,)/, clamped)),
  },
  {
    name: 'deletes the largest id instead of one beyond int64',
    fails: 'delete-out-of-range',
    break: onRequest((request) => ({ ...request, target: request.target.replace(/(?<=^\/plants\/)\d{19}$/, clamped) })),
  },
  {
    name: 'refuses integral ids with a fraction part',
    fails: 'int64-integral-fraction',
    break: onBody((body) => body.replace(/(?<="id":\d+)\.0(?=,)/, '.5')),
  },
  {
    name: 'refuses exponents',
    fails: 'int64-exponent',
    break: onBody((body) => body.replace(/"id":(\d+)e3/, '"id":"$1"')),
  },
  {
    name: 'refuses negative ids',
    fails: 'int64-negative',
    break: onBody((body) => body.replace(/"id":-\d+/, '"id":null')),
  },
  { name: 'refuses the id 0', fails: 'int64-zero', break: onBody((body) => body.replace('"id":0,', '"id":null,')) },
];
