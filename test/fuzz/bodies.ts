import fc from 'fast-check';
import { idLiteral } from './numbers.ts';
import { words } from './words.ts';

/** The maximum length of a request body. */
export const maxBodyBytes = 65_536;

const hostileTexts = words(
  `" \\ \\u0000 \0 \u2028 \uFEFF \uFFFD null \ud800 \udc00\ud800 \u{1F33F} {"id":1} \u007f\u0085 ';--`,
);

/** Generates any text, usually a valid name or tag. */
const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('', ' ', '\r\n', ...hostileTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);

/** A JSON string, sometimes with every UTF-16 code unit escaped. */
const quoted = fc.tuple(anyText, fc.nat(4)).map(([text, n]) => (n === 4 ? escapeAll(text) : JSON.stringify(text)));

/** The value of a member. It can be of any kind and is usually valid JSON. */
const anyJson = fc.oneof(
  { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom('null', 'true', '{}', '[]', '0', '1e400', '{"id":1.0}', 'undefined') },
);

const keys = words('"id" "name" "tag" "\\u0069d" "ID" "__proto__" "constructor" "toString" "user" "x" "" id');

const member = fc.oneof(
  { weight: 6, arbitrary: quoted.map((text) => ['"tag"', text] as const) },
  { weight: 2, arbitrary: idLiteral.map((text) => ['"id"', text] as const) },
  { weight: 2, arbitrary: quoted.map((text) => ['"name"', text] as const) },
  { weight: 1, arbitrary: fc.constant(['"__proto__"', '{"id":1,"name":"inherited","tag":"inherited"}'] as const) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...keys), fc.oneof(anyJson, quoted, idLiteral)) },
);

/** A NewPlant in the form that most clients send. */
export const goodPlant: fc.Arbitrary<string> = fc
  .tuple(
    fc.bigInt({ min: 1n, max: 4n }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.option(fc.constantFrom('indoor', ''), { nil: undefined }),
  )
  .map(([id, name, tag]) =>
    asBytes(`{"id":${id},${JSON.stringify({ name: name.replaceAll('\0', ''), tag }).slice(1)}`),
  );

/** An object with a plant's fields and other members. Members can occur twice. */
const nearlyPlant = fc
  .tuple(idLiteral, quoted, fc.array(member, { maxLength: 3 }), fc.nat(9), fc.constantFrom('', ' ', '\n\t ', '\r'))
  .map(([id, name, others, turn, space]) => {
    const members = [['"id"', id], ['"name"', name], ...others];
    const turned = [...members.slice(turn % members.length), ...members.slice(0, turn % members.length)];
    const texts = turned.map(([key = '', value = '']) => `${space}${key}${space}:${value}`);
    return asBytes(`${space}{${texts.join(`${space},`)}}${space}`);
  });

const oddBytes = words(`
  \xff \xc0\x80 \xed\xa0\x80 \xed\xb0\x80 \xf4\x90\x80\x80 \xe2\x82 \xf0\x9f\x8c\xbf \xef\xbb\xbf \0 \x1f \\ud800 \\u0000
  \\u00e9 \\x , {}`);

/** A plant with extra bytes before, inside or after its fields. These bytes might not be valid JSON or UTF-8. */
const withOddBytes = fc.tuple(fc.constantFrom('\n', ...oddBytes), fc.nat(3)).map(([odd, place]) => {
  const parts = ['', '{"id":3,"name":"', '","tag":"t', '"}'];
  return parts.toSpliced(place, 0, odd).join('');
});

/** A plant whose JSON has about the maximum length of a body. */
const nearlyTooLong = fc.tuple(fc.integer({ min: -2, max: 2 }), fc.boolean()).map(([over, isName]) => {
  const [start, end] = isName ? ['{"id":2,"name":"', '"}'] : ['{"id":2,"name":"long"', '}'];
  return start + (isName ? 'n' : ' ').repeat(maxBodyBytes + over - start.length - end.length) + end;
});

/** Any body, as bytes in latin1. It might not be JSON, or might not be a plant. */
export const anyBody: fc.Arbitrary<string> = fc.oneof(
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

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, n) => text.charCodeAt(n).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}
