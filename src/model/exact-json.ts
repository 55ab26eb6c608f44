import { int64FromJsonNumber } from './int64.ts';

/**
 * The maximum nesting depth of arrays and objects. A NewPlant has only one level. Deeper levels can occur only in
 * unknown fields, which are ignored.
 */
const maxDepth = 256;

/**
 * Matches a number with a fraction or an exponent. May also match text inside a string: the parsed result is then the
 * same, but parsing is slower.
 */
const fractionOrExponent = /\d[.eE]/;

/**
 * Parses JSON (RFC 8259) without rounding the number in the top-level member `id`. If this number is an int64, in any
 * notation, `id` in the result is a bigint or a safe integer with the same value. If it is any other number, `id` in
 * the result is NaN.
 *
 * @throws {SyntaxError} if the text is not JSON.
 * @throws {RangeError} if arrays and objects are nested more than 256 levels deep.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isExact(value) && isFlat(text) && !fractionOrExponent.test(text)) return value;
  const literal = findIdLiteral(text);
  return literal === undefined ? value : { ...(value as object), id: int64FromJsonNumber(literal) ?? NaN };
}

/**
 * Checks that JSON.parse has not rounded `id`. If JSON.parse rounds an integer literal, the result is never a safe
 * integer.
 */
function isExact(value: unknown): boolean {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id !== 'number' || Number.isSafeInteger(id);
}

/**
 * Checks that the JSON contains no array and at most one object. Brackets and braces inside strings can also make this
 * function return `false`. The result of the parsing is then still correct, but parsing is slower.
 */
function isFlat(text: string): boolean {
  return !text.includes('[') && !text.includes('{', text.indexOf('{') + 1);
}

/**
 * Returns the number literal of the top-level member `id`, or `undefined` if `id` is missing or is not a number. If
 * there are several members named `id`, the last one is used, as in JSON.parse. `text` must be valid JSON.
 *
 * This function scans the text in a loop. JSON.parse with a reviver is not used, because JSON.parse calls the reviver
 * recursively: the stack overflows at about 5,000 levels.
 */
function findIdLiteral(text: string): string | undefined {
  const number = /\s*(-?\d[\d.eE+-]*)/y;
  let literal: string | undefined;
  let depth = 0;
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = stringEnd(text, at);
        if (depth === 1) lastString = text.slice(at, end);
        at = end - 1;
        break;
      }
      case ':':
        if (depth !== 1 || JSON.parse(lastString) !== 'id') break;
        number.lastIndex = at + 1;
        literal = number.exec(text)?.[1];
        break;
      case '{':
      case '[':
        if (++depth > maxDepth) throw new RangeError(`The JSON is nested more than ${maxDepth} levels deep.`);
        break;
      case '}':
      case ']':
        depth--;
        break;
      default:
    }
  }
  return literal;
}

/** Returns the index after the closing quote of the string literal that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
