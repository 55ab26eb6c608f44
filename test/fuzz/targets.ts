import fc from 'fast-check';
import { words } from './lists.ts';
import { anyId } from './numbers.ts';

const oddIds = words(`
  9223372036854775808 -9223372036854775809 99999999999999999999999 007 -0 +1 1.0 1e0 0x1 1n %31 %2d1 %2D1 %2531 %00 %ff
  % %3 %zz 1%20 %201 1%00 %d9%a3 %EF%BC%91 1;x 1,2 . .. %2e%2e 1?limit=1 1/ /1 1/2 1%2f2 a - --1 * 1# ~`);

/** The last segment of the path of a plant, usually an id. */
export const idSegment: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: anyId.map(String) },
  { weight: 2, arbitrary: fc.constantFrom(`${'0'.repeat(300)}1`, ...oddIds) },
);

const numberTexts = words(`
  0 1 2 3 1000 1001 2147483647 2147483648 -1 01 +1 %2B1 %201 1%20 1.0 1e2 0x1 %D9%A3 NaN 99999999999999999999 %31 1%00
  9223372036854775807 -9223372036854775808 9223372036854775808 999999999 999999999999999999`);
const names = words(`Limit li%6dit %61fter limit[] x access_token limit%00 __proto__ limit+ %20after`);

const parameter = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('limit', 'after') },
      { weight: 1, arbitrary: fc.constantFrom('', ...names) },
    ),
    fc.constantFrom('=', '=', '=', '=', '', '==', '%3d'),
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('', ...numberTexts) },
      { weight: 1, arbitrary: anyId.map(String) },
    ),
  )
  .map((parts) => parts.join(''));

/** A query without `?`, usually of `limit` and `after`. */
export const anyQuery: fc.Arbitrary<string> = fc
  .tuple(fc.array(parameter, { maxLength: 3 }), fc.constantFrom('&', '&', '&', '&', ';', '&&', '?'))
  .map(([parameters, separator]) => parameters.join(separator));

const oddTargets = words(`
  //plants /plants/ /plants// /plants//1 /./plants /x/../plants /%2e/plants /plants/%2e%2e /%70lants /plants%00 /plants%
  /plants#x /plants?limit=1#x /plants;x /PLANTS /plants? /plants??limit=1 /plants?limit=1?limit=2 / * ? plants
  http://x/plants HTTP://x/plants https://a:b@x:80/plants?limit=1 http:///plants http://x http://x?limit=1
  http://x#/plants http://[::1]/plants http://x\\plants ftp://x/plants http:/plants x:80 /openapi.json /openapi.json?x
  /openapixjson /openapi.json/ /plants| /plants" /<plants> /plants\xff /\xc3\xa9 /plants\x01 /plants\x7f /plants{1}`);

const long = fc
  .tuple(fc.constantFrom('/plants/', '/plants?x=', '/', 'http://'), fc.constantFrom(5000, 13_000, 16_000, 20_000))
  .map(([start, length]) => start + '1'.repeat(length));

/** Any request target. */
export const anyTarget: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', '/pl ants', '/plants\t', ...oddTargets) },
  { weight: 3, arbitrary: anyQuery.map((query) => `/plants?${query}`) },
  { weight: 3, arbitrary: idSegment.map((id) => `/plants/${id}`) },
  { weight: 1, arbitrary: long },
  { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 20 }).map((text) => `/${text}`) },
);
