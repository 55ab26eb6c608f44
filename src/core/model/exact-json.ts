import { int64FromJsonNumber } from './int64.ts';

/**
 * Matches a number with a fraction or an exponent. The pattern can also match text inside a string. Such a match does
 * not change the parsed result, but makes parsing slower.
 */
const fractionOrExponent = /\d[.eE]/;

/** The third argument that `JSON.parse` passes to a reviver (https://tc39.es/proposal-json-parse-with-source/). */
interface RevivedFrom {
  /** The source text of the value; `undefined` if the value is an object or an array. */
  readonly source?: string;
}

/**
 * Parses JSON (RFC 8259) without rounding the number in the top-level member `id`. If this number is an int64 in any
 * JSON notation, the `id` of the result is a bigint or a safe integer with the same value. For any other number, the
 * `id` of the result is NaN.
 *
 * @throws {SyntaxError} if the text is not JSON.
 * @throws {RangeError} if arrays and objects are nested too deeply for the call stack (more than about 5000 levels).
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const { id } = (value ?? {}) as { id?: unknown };
  if (typeof id !== 'number' || (Number.isSafeInteger(id) && !fractionOrExponent.test(text))) return value;
  return { ...(value as object), id: int64FromJsonNumber(idSource(text)) ?? NaN };
}

/**
 * Returns the source text of the number in the top-level member `id`. This function is called only if the number might
 * have been rounded, because parsing with a reviver takes ten times as long as parsing without one.
 */
function idSource(text: string): string {
  const sources = new Map<unknown, string>();
  const root: unknown = JSON.parse(text, function (this: unknown, key, value: unknown, { source }: RevivedFrom = {}) {
    if (key === 'id' && source !== undefined) sources.set(this, source);
    return value;
  });
  return sources.get(root) ?? '';
}
