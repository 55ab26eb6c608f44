import fc from 'fast-check';

const separators = ['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ',', ';', '%', '"', '\\', '{', '}', '/'];
const insertions = ['0', '1', '\xff', '\x7f', '\x80', '\r\n ', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'];

/** A change of some bytes of a text. */
const mutation = fc.record({
  kind: fc.constantFrom('text', 'byte', 'bit', 'twice', 'line end', 'line ends', 'colon'),
  /** Where the bytes start, as a fraction of the length; often near the start. */
  place: fc.oneof(fc.nat(999), fc.nat(100)).map((n) => n / 1000),
  count: fc.oneof(fc.constantFrom(0, 1, Infinity), fc.nat(40)),
  text: fc.constantFrom('', ...separators, ...insertions),
  code: fc.nat(255),
  lineEnd: fc.constantFrom('\n', '\r', '\r\r\n', '\r\n ', ' \r\n', '\n\r', ''),
  colon: fc.constantFrom(' :', '\t:', ':\0'),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

function changed(bytes: string, { kind, text, code, lineEnd, colon }: Mutation): string {
  switch (kind) {
    case 'text':
      return text;
    case 'byte':
      return String.fromCharCode(code);
    case 'bit':
      return String.fromCharCode(bytes.charCodeAt(0) ^ (1 << (code % 8))) + bytes.slice(1);
    case 'twice':
      return bytes + bytes;
    case 'line end':
      return bytes.replace('\r\n', lineEnd);
    case 'line ends':
      return bytes.replaceAll('\r\n', lineEnd);
    case 'colon':
      return bytes.replace(':', colon);
  }
}

function mutate(text: string, mutation: Mutation): string {
  const at = Math.floor(mutation.place * text.length);
  const end = at + mutation.count;
  return text.slice(0, at) + changed(text.slice(at, end), mutation) + text.slice(end);
}

/** Texts with one to three mutations. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([text, mutations]) => mutations.reduce(mutate, text));
}
