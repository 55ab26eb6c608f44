import { int64FromJsonNumber } from './int64.ts';

/** The maximum nesting depth of arrays and objects. Deeper JSON is never a plant. */
const maxDepth = 256;

/** Matches a fraction or an exponent. A false match inside a string only selects the slower path. */
const fractionOrExponent = /\d[.eE]/;

/**
 * Parses JSON (RFC 8259) without losing precision in the top-level member `id`. An integral number in any notation
 * becomes an int64 bigint, or stays a number if that is exact. Any other number becomes NaN.
 *
 * @throws {SyntaxError} if the text is not JSON.
 * @throws {RangeError} if arrays and objects nest more than 256 levels.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isExact(value) && isFlat(text) && !fractionOrExponent.test(text)) return value;
  const literal = findIdLiteral(text);
  return literal === undefined ? value : { ...(value as object), id: int64FromJsonNumber(literal) ?? NaN };
}

/** Checks that `id` is exact. An integer literal that a double cannot represent is never parsed as a safe integer. */
function isExact(value: unknown): boolean {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id !== 'number' || Number.isSafeInteger(id);
}

/** Checks that the JSON contains at most one object and no array. */
function isFlat(text: string): boolean {
  return !text.includes('[') && !text.includes('{', text.indexOf('{') + 1);
}

/**
 * Returns the literal of the top-level member `id` if it is a number. If there are several such members, the last one
 * counts, as in JSON.parse. `text` must be valid JSON. This is a loop because a JSON.parse reviver is called
 * recursively and overflows the stack at about 5,000 levels.
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
        if (++depth > maxDepth) throw new RangeError(`The JSON nests more than ${maxDepth} levels.`);
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

/** Returns the index after the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
