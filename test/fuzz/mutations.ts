import fc from 'fast-check';

type Change = (cut: string) => string;

/** A position in a text, as a fraction of its length; often near the start. */
const place = fc.oneof(fc.nat(999), fc.nat(100)).map((n) => n / 1000);
const separators = ['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ',', ';', '%', '"', '\\', '{', '}', '/'];
const insertions = [...separators, '0', '1', '\xff', '\x7f', '\x80', '\r\n ', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'];
const lineEnds = ['\n', '\r', '\r\r\n', '\r\n ', ' \r\n', '\n\r', ''];

/** How many bytes are changed, and how. */
const changes = fc.oneof(
  fc.tuple(
    fc.oneof(fc.constantFrom(0, 1, Infinity), fc.nat(40)),
    fc.oneof(
      fc.constantFrom('', ...insertions).map(
        (text): Change =>
          () =>
            text,
      ),
      fc.nat(255).map(
        (code): Change =>
          () =>
            String.fromCharCode(code),
      ),
      fc.nat(7).map(
        (bit): Change =>
          (cut) =>
            String.fromCharCode(cut.charCodeAt(0) ^ (1 << bit)) + cut.slice(1),
      ),
      fc.constant<Change>((cut) => cut + cut),
    ),
  ),
  fc.tuple(
    fc.constant(Infinity),
    fc.oneof(
      fc.constantFrom(...lineEnds).map(
        (end): Change =>
          (cut) =>
            cut.replace('\r\n', end),
      ),
      fc.constantFrom(...lineEnds).map(
        (end): Change =>
          (cut) =>
            cut.replaceAll('\r\n', end),
      ),
      fc.constantFrom(' :', '\t:', ':\0').map(
        (colon): Change =>
          (cut) =>
            cut.replace(':', colon),
      ),
    ),
  ),
);

/** Texts with one to three mutations. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const mutations = fc.array(fc.tuple(place, changes), { minLength: 1, maxLength: 3 });
  return fc.tuple(texts, mutations).map(([text, all]) =>
    all.reduce((result, [part, [count, change]]) => {
      const at = Math.floor(part * result.length);
      return result.slice(0, at) + change(result.slice(at, at + count)) + result.slice(at + count);
    }, text),
  );
}
