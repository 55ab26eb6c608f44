import fc from 'fast-check';

type Mutation = (text: string) => string;

/** A position in a text, as a fraction of its length; often near the start. */
const place = fc.oneof(fc.nat(1000), fc.nat(100)).map((n) => n / 1000);
const insertions = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '0',
  '1',
  '\xff',
  '\x7f',
  '\x80',
  '\r\n ',
  '\r\n\r\n',
  '%',
  '"',
  '\\',
  '{',
  '}',
  '/',
  'GET / HTTP/1.1\r\n\r\n',
];

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  // Flips one bit.
  fc.tuple(place, fc.nat(7)).map(
    ([part, bit]): Mutation =>
      (text) =>
        splice(text, part, 1, (byte) => String.fromCharCode(byte.charCodeAt(0) ^ (1 << bit))),
  ),
  // Replaces a byte.
  fc.tuple(place, fc.nat(255)).map(
    ([part, code]): Mutation =>
      (text) =>
        splice(text, part, 1, () => String.fromCharCode(code)),
  ),
  // Inserts a text.
  fc.tuple(place, fc.constantFrom(...insertions)).map(
    ([part, added]): Mutation =>
      (text) =>
        splice(text, part, 0, () => added),
  ),
  // Deletes some bytes.
  fc.tuple(place, fc.integer({ min: 1, max: 8 })).map(
    ([part, count]): Mutation =>
      (text) =>
        splice(text, part, count, () => ''),
  ),
  // Duplicates some bytes.
  fc.tuple(place, fc.integer({ min: 1, max: 40 })).map(
    ([part, count]): Mutation =>
      (text) =>
        splice(text, part, count, (cut) => cut + cut),
  ),
  // Truncates the text.
  place.map(
    (part): Mutation =>
      (text) =>
        text.slice(0, Math.floor(part * text.length)),
  ),
  // Replaces one line end, or all of them.
  fc.tuple(place, fc.constantFrom('\n', '\r', '\r\r\n', '\r\n ', ' \r\n', '\n\r', '')).map(
    ([part, end]): Mutation =>
      (text) =>
        text.slice(0, Math.floor(part * text.length)) + text.slice(Math.floor(part * text.length)).replace('\r\n', end),
  ),
  fc.constantFrom('\n', '\r').map(
    (end): Mutation =>
      (text) =>
        text.replaceAll('\r\n', end),
  ),
  // Replaces a colon.
  fc.tuple(place, fc.constantFrom(' :', '\t:', ':\0', ':')).map(
    ([part, colon]): Mutation =>
      (text) =>
        text.slice(0, Math.floor(part * text.length)) + text.slice(Math.floor(part * text.length)).replace(':', colon),
  ),
);

/** Texts with one to three mutations. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([text, mutations]) => mutations.reduce((changed, mutate) => mutate(changed), text));
}

function splice(text: string, part: number, count: number, change: (cut: string) => string): string {
  const at = Math.min(Math.floor(part * text.length), Math.max(text.length - 1, 0));
  const cut = text.slice(at, at + count);
  return text.slice(0, at) + (cut === '' && count > 0 ? '' : change(cut)) + text.slice(at + count);
}
