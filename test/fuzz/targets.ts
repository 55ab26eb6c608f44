import fc from 'fast-check';
import { anyId } from './numbers.ts';
import { words } from './words.ts';

/** The resource that a request target refers to. Queries and ids are not decoded, so they may be percent-encoded. */
export type Route =
  | { readonly kind: 'plants'; readonly query: string }
  | { readonly kind: 'plant'; readonly idText: string }
  | { readonly kind: 'openapi' };

/** A request target. The service responds with 404 to a target without a route. */
export interface Target {
  readonly text: string;
  readonly route?: Route;
}

const oddIds = words(`
  9223372036854775808 -9223372036854775809 99999999999999999999999 007 -0 +1 1.0 1e0 0x1 1n %31 %2d1 %2D1 %2531 %00 %ff
  % %3 %zz 1%20 %201 1%00 %d9%a3 %EF%BC%91 1;x 1,2 . .. %2e%2e 1%2f2 a - --1 * ~`);

const idSegment = fc.oneof(
  { weight: 8, arbitrary: anyId.map(String) },
  { weight: 1, arbitrary: fc.constantFrom(`${'0'.repeat(300)}1`, ...oddIds) },
);

const numberTexts = words(`
  0 1 2 3 1000 1001 2147483647 2147483648 -1 01 +1 %2B1 %201 1%20 1.0 1e2 0x1 %D9%A3 NaN 99999999999999999999 %31 1%00
  9223372036854775807 -9223372036854775808 9223372036854775808 999999999 999999999999999999`);
const oddNames = words('Limit li%6dit %61fter limit[] x access_token limit%00 __proto__ limit+ %20after');

const parameter = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('limit', 'after') },
      { weight: 1, arbitrary: fc.constantFrom('', ...oddNames) },
    ),
    fc.constantFrom('=', '=', '=', '=', '', '==', '%3d'),
    fc.oneof(anyId.map(String), fc.constantFrom('', ...numberTexts)),
  )
  .map((parts) => parts.join(''));

const query = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('', 'limit=1', 'limit=2', 'limit=2&after=1', 'after=3', 'limit=0') },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(parameter, { maxLength: 3 }), fc.constantFrom('&', '&', '&', '&', ';', '&&', '?'))
      .map(([parameters, separator]) => parameters.join(separator)),
  },
);

const unrouted = words(`
  / //plants /plants/ /plants// /plants//1 /plants/1/ /plants/1/2 /./plants /x/../plants /%2e/plants /%70lants
  /plants%00 /plants% /plants;x /PLANTS /openapix.json /openapi.json/ http://x http://x?limit=1 http://x//plants`);

/** The start of an absolute target; usually empty, because most targets are not absolute. */
const origin = fc.constantFrom('', '', '', '', '', '', 'http://x', 'HTTP://x:80', 'https://[::1]');

export const plantsTarget: fc.Arbitrary<Target> = origin.map((start) => routed(`${start}/plants`));

export const listTarget: fc.Arbitrary<Target> = fc
  .tuple(origin, query)
  .map(([start, text]) => routed(`${start}/plants?${text}`, { kind: 'plants', query: text }));

export const plantTarget: fc.Arbitrary<Target> = fc
  .tuple(origin, idSegment, fc.constantFrom('', '', '', '?', '?limit=x'))
  .map(([start, idText, end]) => routed(`${start}/plants/${idText}${end}`, { kind: 'plant', idText }));

/** Generates any target, usually without a route. */
export const otherTarget: fc.Arbitrary<Target> = fc.oneof(
  plantsTarget,
  plantTarget,
  fc.constantFrom('', '?x').map((end) => routed(`/openapi.json${end}`, { kind: 'openapi' })),
  fc.constantFrom(`/${'1'.repeat(5000)}`, ...unrouted).map((text) => ({ text })),
);

function routed(text: string, route: Route = { kind: 'plants', query: '' }): Target {
  return { text, route };
}
