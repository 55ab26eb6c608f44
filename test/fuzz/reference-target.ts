import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';

/** Returns the int64 in a path segment, or `undefined`. */
export function parsePathId(segment: string): bigint | undefined {
  return int64(decodeEscapes(segment));
}

/** Returns the parameters of a list, or the integers of the errors for an invalid query. */
export function parseListQuery(
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

/** Decodes byte by byte, and leaves invalid escapes unchanged. */
function decodeEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function int64(text: string): bigint | undefined {
  if (!/^-?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}
