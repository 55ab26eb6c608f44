import { maxInt64, minInt64 } from '../../src/model/int64.ts';

interface Common {
  readonly path: string;
  readonly query: string;
  readonly methods: readonly string[];
  readonly allow: string;
}

/** Where a target leads. */
export type Place = Common &
  ({ readonly kind: 'plants' | 'openapi' } | { readonly kind: 'plant'; readonly idText: string });

/** Where a request target leads; `undefined` for nowhere. */
export function routeOf(target: string): Place | undefined {
  const origin = target.replace(/^https?:\/\/[^/?]*/i, '');
  const [path = '', ...rest] = origin.split('?');
  const query = rest.join('?');
  if (path === '/plants') {
    return { kind: 'plants', path, query, methods: ['GET', 'POST'], allow: 'GET, POST, HEAD, OPTIONS' };
  }
  if (path === '/openapi.json') return { kind: 'openapi', path, query, methods: ['GET'], allow: 'GET, HEAD, OPTIONS' };
  const idText = path.startsWith('/plants/') ? path.slice('/plants/'.length) : '';
  if (idText === '' || idText.includes('/')) return undefined;
  return { kind: 'plant', path, query, methods: ['DELETE'], allow: 'DELETE, OPTIONS', idText };
}

/** The int64 that a path segment names. */
export function readPathId(segment: string): bigint | undefined {
  return int64(decodeEscapes(segment));
}

/** What a list's query asks for, or the integers that refuse it. */
export function readListQuery(
  query: string,
): { limit: number | undefined; after: bigint | undefined } | { errors: number[] } {
  const pairs = query.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return {
      name: decodeEscapes(name.replaceAll('+', ' ')),
      value: decodeEscapes(value.join('=').replaceAll('+', ' ')),
    };
  });
  const limits = pairs.filter(({ name }) => name === 'limit').map(({ value }) => value);
  const afters = pairs.filter(({ name }) => name === 'after').map(({ value }) => value);
  const limit = limits.length === 1 && /^[0-9]+$/.test(limits[0] ?? '') ? int64(limits[0] ?? '') : undefined;
  const after = afters.length === 1 ? int64(afters[0] ?? '') : undefined;
  const errors: number[] = [];
  if (limits.length > 0 && (limit === undefined || limit > 2_147_483_647n)) errors.push(40005);
  if (afters.length > 0 && after === undefined) errors.push(40006);
  return errors.length > 0 ? { errors } : { limit: limit === undefined ? undefined : Number(limit), after };
}

/** Byte by byte; what is no escape stays as it is. */
function decodeEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function int64(text: string): bigint | undefined {
  if (!/^-?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}
