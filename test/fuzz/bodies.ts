import fc from 'fast-check';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';

/** The maximum length of a request body. */
export const maxBodyBytes = 65_536;

/** Splits a text at white space. */
export function words(text: string): string[] {
  return text.trim().split(/[ \n]+/);
}

/** Generates a value from `usual`, or sometimes from `other`. */
export function usually<Value>(
  weight: number,
  usual: fc.Arbitrary<Value>,
  other: fc.Arbitrary<Value>,
): fc.Arbitrary<Value> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}

const limits = [0n, -1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, minInt64, maxInt64];

/** Generates mostly one of a few small ids, so that requests conflict. Other ids are limits of int64 or of a double. */
export const anyId: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: 1n, max: 4n }) },
  { weight: 3, arbitrary: fc.constantFrom(...limits) },
  { weight: 1, arbitrary: fc.bigInt({ min: minInt64, max: maxInt64 }) },
);

/** Literals whose value is not obvious or is not an int64. Some literals are not valid JSON. */
const oddLiterals = words(`
  1e18 1E18 1.0e+18 9223372036854775807.0 922337203685477580.7e1 92233720368547758070e-1 9223372036854775808
  9223372036854775807.5 -9223372036854775808.0 -9223372036854775809 9007199254740993.0 9007199254740992.5 1e19 1e400
  1e-400 0e999999999999999999999 -0 -0.0 0.1e1 1e999999999999999999999 1.00000000000000000000000000001 1.5 10e-1 15e-1
  01 +1 1. .5 0x10 1n 1_000 NaN Infinity --1 1e ٣ "1" null true [1] {}`);

/** An id that is written as a JSON number with a fraction and an exponent. */
const spelled = fc.tuple(anyId, fc.nat(25), fc.nat(12)).map(([id, shift, zeros]) => {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(String(id)) ?? [];
  const padded = digits.padStart(shift + 1, '0');
  const whole = padded.slice(0, padded.length - shift).replace(/^0+(?=\d)/, '');
  return `${sign}${whole}.${padded.slice(padded.length - shift)}${'0'.repeat(zeros + 1)}e${shift}`;
});

const longLiteral = fc
  .tuple(fc.constantFrom('1', '0', '0.0', '1e', '1e-', '-'), fc.constantFrom('0', '1', '9'), fc.nat(400))
  .map(([start, digit, count]) => start + digit.repeat(count + 1));

/** The text of an id in a body, in various notations. It is usually valid. */
const idLiteral: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: anyId.map(String) },
  { weight: 3, arbitrary: spelled },
  { weight: 2, arbitrary: fc.constantFrom('', ...oddLiterals) },
  { weight: 1, arbitrary: longLiteral },
);

const hostileTexts = words(
  `" \\ \\u0000 \0 \u2028 \uFEFF \uFFFD null \ud800 \udc00\ud800 \u{1F33F} {"id":1} \u007f\u0085 ';--`,
);
const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('', ' ', '\r\n', ...hostileTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);

/** A JSON string, sometimes with every UTF-16 code unit escaped. */
const quoted = fc.tuple(anyText, fc.nat(4)).map(([text, n]) => {
  if (n < 4) return JSON.stringify(text);
  const units = text.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
});

const keys = words('"id" "name" "tag" "\\u0069d" "ID" "__proto__" "constructor" "toString" "user" "x" "" id');
const anyJson = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(...words('null true {} [] 0 1e400 {"id":1.0} undefined')),
);
const member = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant('"tag"'), quoted) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('"id"'), idLiteral) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('"name"'), quoted) },
  { weight: 1, arbitrary: fc.constant(['"__proto__"', '{"id":1,"name":"inherited","tag":"inherited"}'] as const) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...keys), fc.oneof(anyJson, quoted, idLiteral)) },
);

/** An object with a plant's fields and other members, in any order. Members can occur twice. */
const nearlyPlant = fc
  .tuple(idLiteral, quoted, fc.array(member, { maxLength: 3 }), fc.nat(9), fc.constantFrom('', ' ', '\n\t ', '\r'))
  .map(([id, name, others, turn, space]) => {
    const members = [['"id"', id], ['"name"', name], ...others];
    const turned = [...members.slice(turn % members.length), ...members.slice(0, turn % members.length)];
    const texts = turned.map(([key = '', value = '']) => `${space}${key}${space}:${value}`);
    return asBytes(`${space}{${texts.join(`${space},`)}}${space}`);
  });

const oddBytes = words(`
  \xff \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82 \xf0\x9f\x8c\xbf \xef\xbb\xbf \0 \x1f \\ud800 \\u0000 \\x , {}`);

/** A plant with extra bytes before, inside or after its fields. These bytes might not be valid JSON or UTF-8. */
const withOddBytes = fc
  .tuple(fc.constantFrom('\n', ...oddBytes), fc.nat(3))
  .map(([odd, place]) => ['', '{"id":3,"name":"', '","tag":"t', '"}'].toSpliced(place, 0, odd).join(''));

/** A plant whose JSON has about the maximum length of a body. */
const nearlyTooLong = fc.tuple(fc.integer({ min: -2, max: 2 }), fc.boolean()).map(([over, isName]) => {
  const [start, end] = isName ? ['{"id":2,"name":"', '"}'] : ['{"id":2,"name":"long"', '}'];
  return start + (isName ? 'n' : ' ').repeat(maxBodyBytes + over - start.length - end.length) + end;
});

/** A NewPlant in the form that most clients send. */
const goodPlant = fc
  .tuple(fc.bigInt({ min: 1n, max: 4n }), fc.string({ unit: 'grapheme', maxLength: 12 }), fc.boolean())
  .map(([id, name, isTagged]) => {
    const fields = JSON.stringify({ name: name.replaceAll('\0', ''), ...(isTagged && { tag: 'indoor' }) });
    return asBytes(`{"id":${id},${fields.slice(1)}`);
  });

/** Any body, as bytes in latin1. It might not be JSON, or might not be a plant. */
export const anyBody: fc.Arbitrary<string> = fc.oneof(
  { weight: 19, arbitrary: goodPlant },
  { weight: 12, arbitrary: nearlyPlant },
  { weight: 3, arbitrary: withOddBytes },
  { weight: 2, arbitrary: fc.json().map(asBytes) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map(asBytes) },
  { weight: 1, arbitrary: nearlyTooLong },
);

/** Returns the UTF-8 bytes of a text as latin1. */
function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
