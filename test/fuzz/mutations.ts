import fc from 'fast-check';

type Mutation = (text: string) => string;

/** A position in a text, as a fraction of its length; often near the start. */
const place = fc.oneof(fc.nat(1000), fc.nat(100)).map((n) => n / 1000);
const separators = ['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ',', ';', '%', '"', '\\', '{', '}', '/'];
const insertions = [...separators, '0', '1', '\xff', '\x7f', '\x80', '\r\n ', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'];
const lineEnds = ['\n', '\r', '\r\r\n', '\r\n ', ' \r\n', '\n\r', ''];

/** Changes `count` bytes at a place. */
const changed = (count: number, changes: fc.Arbitrary<Mutation>): fc.Arbitrary<Mutation> =>
  fc.tuple(place, changes).map(([part, change]) => (text) => {
    const at = Math.min(Math.floor(part * text.length), Math.max(text.length - 1, 0));
    const cut = text.slice(at, at + count);
    return text.slice(0, at) + (cut === '' && count > 0 ? '' : change(cut)) + text.slice(at + count);
  });

/** Replaces the first `old` after a place. */
const replaced = (old: string, texts: readonly string[]): fc.Arbitrary<Mutation> =>
  changed(
    Infinity,
    fc.constantFrom(...texts).map((text) => (rest) => rest.replace(old, text)),
  );

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  // Flips a bit, replaces a byte, and inserts, deletes or duplicates bytes.
  changed(
    1,
    fc.nat(7).map((bit) => (byte) => String.fromCharCode(byte.charCodeAt(0) ^ (1 << bit))),
  ),
  changed(
    1,
    fc.nat(255).map((code) => () => String.fromCharCode(code)),
  ),
  changed(
    0,
    fc.constantFrom(...insertions).map((added) => () => added),
  ),
  fc.integer({ min: 1, max: 8 }).chain((count) =>
    changed(
      count,
      fc.constant(() => ''),
    ),
  ),
  fc.integer({ min: 1, max: 40 }).chain((count) =>
    changed(
      count,
      fc.constant((cut) => cut + cut),
    ),
  ),
  // Truncates the text, and replaces one or all line ends, or a colon.
  changed(
    Infinity,
    fc.constant(() => ''),
  ),
  replaced('\r\n', lineEnds),
  fc.constantFrom('\n', '\r').map((end) => (text: string) => text.replaceAll('\r\n', end)),
  replaced(':', [' :', '\t:', ':\0']),
);

/** Texts with one to three mutations. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([text, mutations]) => mutations.reduce((result, mutate) => mutate(result), text));
}
