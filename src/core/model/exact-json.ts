import { int64FromJsonNumber } from './int64.ts';

/** Matches a number with a fraction or an exponent. A match inside a string only makes parsing slower. */
const fractionOrExponent = /\d[.eE]/;

/** Matches a member `id` whose value is a number, at `lastIndex`. The letters of a name can be escaped. */
const idMember = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*([-\d.eE+]+)/y;

const [quote, backslash, openArray, closeArray, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses JSON (RFC 8259) without rounding the number in the top-level member `id`. If this number is an int64 in any
 * JSON notation, the `id` of the result is a bigint or a safe integer with the same value. For any other number, the
 * `id` of the result is NaN.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const object = (value ?? {}) as { id?: unknown };
  if (typeof object.id !== 'number') return value;
  if (Number.isSafeInteger(object.id) && !fractionOrExponent.test(text)) return value;
  object.id = int64FromJsonNumber(idSource(text)) ?? NaN;
  return value;
}

/**
 * Returns the source text of the number in the last top-level member `id`. `text` must be a JSON object. A reviver would
 * be called for every value, which takes 20 ms for a body of 64 KiB.
 */
function idSource(text: string): string {
  let source = '';
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case openArray:
      case openObject:
        depth++;
        break;
      case closeArray:
      case closeObject:
        depth--;
        break;
      case quote:
        if (depth === 1) {
          idMember.lastIndex = at;
          source = idMember.exec(text)?.[1] ?? source;
        }
        at = endOfString(text, at);
    }
  }
  return source;
}

/** Returns the index of the quotation mark that ends the string at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code; (code = text.charCodeAt(at)) !== quote; at++) if (code === backslash) at++;
  return at;
}
