import { PlantStoreError } from './errors.ts';
import { int64FromJsonNumber } from './int64.ts';

/** A fraction or an exponent, or what looks like one in a string, which only costs the longer way. */
const fractionOrExponent = /\d[.eE]/;

/**
 * Parses JSON (RFC 8259) with the top-level member `id` exact: an integral number in any spelling
 * becomes an int64 bigint (or stays a number where that is exact), any other number becomes NaN.
 *
 * @throws {PlantStoreError} `invalid_json`, also where arrays and objects nest more than `maxDepth` levels.
 */
export function parseExactJson(text: string, maxDepth: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PlantStoreError('invalid_json', undefined, { cause });
  }
  if (isExact(value) && isFlat(text) && !fractionOrExponent.test(text)) return value;
  const literal = findIdLiteral(text, maxDepth);
  return literal === undefined ? value : { ...(value as object), id: int64FromJsonNumber(literal) ?? NaN };
}

/** A plain integer literal that is not exact as a double never becomes a safe integer. */
function isExact(value: unknown): boolean {
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id !== 'number' || Number.isSafeInteger(id);
}

/** Whether it is one object at most, with no other inside. */
function isFlat(text: string): boolean {
  return !text.includes('[') && !text.includes('{', text.indexOf('{') + 1);
}

/**
 * The literal of the top-level member `id`, the last one as JSON.parse takes it, where it is a
 * number. The text is known to be JSON. A loop, not a reviver, since a reviver recurses and
 * overflows the stack at some 5,000 levels.
 */
function findIdLiteral(text: string, maxDepth: number): string | undefined {
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
        if (++depth > maxDepth) throw new PlantStoreError('invalid_json', `The body nests more than ${maxDepth} levels.`);
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

/** The index behind the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
