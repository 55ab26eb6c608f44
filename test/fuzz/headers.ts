import fc from 'fast-check';
import { phrases, words } from './lists.ts';

/** A header line with credentials, usually valid ones. */
export const goodCredentials: fc.Arbitrary<string> = fc
  .constantFrom('ada', 'ada', 'ada', 'bob', 'bob', 'cyn', 'ada-reads', 'ada-writes', 'dan-reads')
  .map((token) => `Authorization: Bearer ${token}`);

/** Odd values of the fields that the service or node:http reads. */
const oddValues: Readonly<Record<string, readonly string[]>> = {
  Authorization: phrases(`
    Bearer | Bearer eve | Bearer nobody | Bearer ada,bob | Bearer ada bob | Bearer "ada" | Bearer ada= | Bearer =
    Basic YWRhOg== | bearer ada | BEARER   ada | Bearer\tada | ada | Bearers ada | Bearer \xe4da | Bearer ada\0
    Bearer ada, Bearer bob | Bearer ${'x'.repeat(9000)}`),
  'Content-Type': phrases(`
    application/json; charset=utf-8 | application/json;charset="UTF-8" | APPLICATION/JSON | text/plain
    application/json; charset=latin1 | application/json; charset=utf-16 | application/json; | application/jsonp
    application/json; x=y; charset=utf-8 | application/json, text/plain | application/x-www-form-urlencoded
    multipart/form-data; boundary=x | application/json;charset= | application/json; charset=utf-8; charset=latin1
    application/merge-patch+json | application/json\t | application/json;${' '.repeat(6000)}x`),
  Host: phrases(`x | x:80 | x:y | a b | a,b | x/plants | [::1] | user@x | \xff`),
  'Content-Length': phrases(`
    0 | 1 | 5 | +5 | -5 | 5, 5 | 5,6 | 5;x | 0x5 | 5.0 | 5e1 | 007 | 65536 | 65537 | 70000 | 1200000 | 99999999999
    18446744073709551615 | 18446744073709551616 | 99999999999999999999999999 | \xd9\xa3 | \xb2`),
  'Transfer-Encoding': phrases(`
    chunked | Chunked | gzip, chunked | chunked, gzip | chunked, chunked | identity | gzip | xchunked | chunked;x=y
    "chunked" | ,chunked | chunked, | \x0bchunked | trailers`),
  Connection: phrases(`
    close | keep-alive | Close | close, keep-alive | keep-alive, close | upgrade | TE | close, | content-length
    authorization | "close" | x | HTTP2-Settings, upgrade`),
  Expect: phrases(`100-continue | 100-Continue | 200-ok | 100-continue, x`),
  Upgrade: words('websocket h2c TLS/1.0'),
  'Content-Encoding': words('gzip identity GZIP'),
};

const otherLines = phrases(`
  HTTP2-Settings: AAMAAABk | TE: trailers | Trailer: Content-Length | Keep-Alive: timeout=0, max=0 | Max-Forwards: 0
  X-HTTP-Method-Override: DELETE | Range: bytes=0-1 | If-None-Match: * | Accept: text/html | Accept-Encoding: gzip
  Cookie: a=b | __proto__: x | constructor: y | Content-Length_: 5 | Transfer_Encoding: chunked | no colon | : x | X : y
  Content-Length : 5 | Transfer-Encoding : chunked | X:\0 | X: a\0b | X: \x01 | X\xff: y | X: \xff\xfe | X\x0b: y
  X: a\rb | X(y): z | X: | "X": y | X: a\x7f`);
const withLineEnds = ['', '\r', '\n', ' folded: x', '\tfolded', 'X: a\nContent-Length: 5', 'X: a\r\n y'];

/** Lines that are added to those of a correct request, or replace the line with the same name. */
export const oddLine: fc.Arbitrary<string> = fc.oneof(
  goodCredentials,
  ...Object.entries(oddValues).map(([name, values]) =>
    fc
      .tuple(fc.constantFrom('', ' ', '\t'), fc.constantFrom('', ...values))
      .map(([space, value]) => `${name}:${space}${value}`),
  ),
  fc.constantFrom(...otherLines),
  fc.constantFrom(...withLineEnds),
  fc.constantFrom(100, 5000, 13_500, 16_300, 17_000, 30_000).map((length) => `X: ${'x'.repeat(length)}`),
  fc.constantFrom(90, 124, 125, 126, 1000, 3000).map((count) => Array.from({ length: count }, () => 'a:').join('\r\n')),
);

/** Usually the correct text, sometimes one of the others. */
function usually(correct: string, others: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight: 1, arbitrary: fc.constant(correct) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const extensions = phrases(
  `;x | ;x=y | ;x="y z" | ; | ;x=\xff | \t | x | , | ;${'x'.repeat(500)} | ;${'x'.repeat(17_000)}`,
);
const prefixes = words('0 0000 00000000000000000000 G - + 0x 10000000000000000 ffffffffffffffff 8000000000000000');
const trailers = phrases(`
  X: y | Content-Length: 5 | Authorization: Bearer bob | Host: y | X : y | X: \0 | no colon
  X: ${'x'.repeat(17_000)}`);

/** Ways to split a body into chunks, usually correctly. */
export const chunkedBy: fc.Arbitrary<(body: string) => string> = fc
  .record({
    size: fc.constantFrom(1, 3, 10, 1000, 100_000),
    prefix: usually('', [' ', ...prefixes]),
    isUpper: fc.boolean(),
    extension: usually('', [' ', ' ;x', ';x\n', ...extensions]),
    end: usually('\r\n', ['\n', '\r', 'x\r\n', '']),
    last: usually('0', ['000', '0;x', '', '-0', '00000000000000000']),
    trailer: usually('', ['\n', 'X: y\n', ' x\r\n', ...trailers.map((line) => `${line}\r\n`)]),
  })
  .map(({ size, prefix, isUpper, extension, end, last, trailer }) => (body) => {
    const parts = body.match(new RegExp(`[^]{1,${Math.max(size, Math.ceil(body.length / 50))}}`, 'g')) ?? [];
    const chunks = parts.map((part, n) => {
      const digits = part.length.toString(16);
      const size = isUpper ? digits.toUpperCase() : digits;
      // Only the last chunk is wrong.
      return n === parts.length - 1 ? `${prefix}${size}${extension}\r\n${part}${end}` : `${size}\r\n${part}\r\n`;
    });
    return `${chunks.join('')}${last}\r\n${trailer}\r\n`;
  });
