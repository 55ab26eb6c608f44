import { int64FromJsonNumber } from './plant.ts';

/** A match inside a string is harmless: it only makes parsing slower. */
const fractionOrExponent = /\d[.eE]/;

/** Matches a member `id` with a number. JSON can escape the letters of the name. */
const idMember = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*([-\d.eE+]+)/y;

const [quote, backslash, openArray, closeArray, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses JSON (RFC 8259) without rounding the number in the top-level member `id`. An int64 in any notation becomes a
 * bigint or a safe integer with the same value. Any other number becomes NaN.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const object = (value ?? {}) as { id?: unknown };
  if (typeof object.id !== 'number') return value;
  if (Number.isSafeInteger(object.id) && !fractionOrExponent.test(text)) return value;
  object.id = int64FromJsonNumber(idSource(text)) ?? NaN;
  return value;
}

/** Returns the source of the number in the last top-level `id`. A reviver would make JSON.parse many times slower. */
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

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code; (code = text.charCodeAt(at)) !== quote; at++) if (code === backslash) at++;
  return at;
}
