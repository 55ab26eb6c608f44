import fc from 'fast-check';
import { requestOf } from './requests.ts';

/** Malformed bytes that follow the well-formed requests on a connection. */
export interface Malformed {
  readonly bytes: string;
  /** The user whose tokens the bytes contain. */
  readonly user: string;
  /** Whether the server must refuse the bytes. If false, the server may either refuse or serve them. */
  readonly isRefused: boolean;
}

/** Splits a text at ` | ` and at line ends, so that the phrases may contain spaces. */
function phrases(text: string): string[] {
  return text.trim().split(/ \| *|\n */);
}

/** Header lines, each of which makes any request malformed. */
const malformedLines = [
  ...phrases(`
    Host: y | Content-Length: +5 | Content-Length: -5 | Content-Length: 5,6 | Content-Length: 5;x | Content-Length: 0x5
    Content-Length: 5.0 | Content-Length: \xd9\xa3 | Content-Length: | Content-Length : 5 | Transfer-Encoding: gzip
    Transfer-Encoding: gzip, chunked | Transfer-Encoding: chunked;x=y | Transfer-Encoding: xchunked | no colon | : x
    Transfer-Encoding : chunked | X : y | X:\0 | X: a\0b | X\xff: y | X(y): z | "X": y`),
  'X: a\rb',
  'X: a\nContent-Length: 5',
];
const malformedVersions = phrases('HTTP/0.9 | HTTP/2.0 | http/1.1 | HTTP/ 1.1 | HTTP/1,1 | HTTP/11 | HTTPS/1.1');
const malformedChunks = ['G', '-1\r\nx', '0x1\r\nx', '1\r\nxx', '1\r\nx\n', '1;\0\r\nx', '0\r\nX : y', '0\r\nX'];

/** Header lines that a server may either accept or refuse. */
const doubtfulLines = [
  ...phrases(`
    Content-Length: 5 | Content-Length: 5, 5 | Content-Length: 99999999999999999999999999 | Transfer-Encoding: chunked
    Transfer-Encoding: chunked, chunked | Transfer-Encoding: ,chunked | Transfer-Encoding: identity | X: \x01 | X: a\x7f
    Upgrade: h2c | Connection: upgrade | Connection: content-length | Expect: 100-continue | Expect: 200-ok`),
  ' folded: x',
  `X: ${'x'.repeat(17_000)}`,
];

const insertions = [
  ...['', '\r\n', '\n', '\r', '\0', ' ', '\t', ':', ',', ';', '%', '"', '\\', '{', '}', '/', '#', '*', '?', '0', '1'],
  ...['\xff', '\x7f', '\x80', '\r\n ', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n'],
];

/** A replacement of some bytes. Its position is a fraction of the length. */
const mutation = fc.record({
  place: fc.oneof(fc.nat(999), fc.nat(100)).map((n) => n / 1000),
  count: fc.oneof(fc.constantFrom(0, 1, Infinity), fc.nat(40)),
  text: fc.oneof(fc.constantFrom(...insertions), fc.string({ unit: 'binary-ascii', maxLength: 2 })),
});

function mutate(bytes: string, { place, count, text }: { place: number; count: number; text: string }): string {
  const at = Math.floor(place * bytes.length);
  return bytes.slice(0, at) + text + bytes.slice(at + count);
}

const garbage = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'GET /plants\r\n\r\n', '\x16\x03\x01\x02\0\x01', '\r\n'),
);

/**
 * Generates malformed bytes. Valid tokens in these bytes belong to the given user. Sometimes a well-formed request
 * follows the malformed bytes.
 */
export function malformedOf(user: string): fc.Arbitrary<Malformed> {
  // The response parser needs to know which requests are HEAD requests.
  const base = requestOf([user])
    .filter(({ method }) => method !== 'HEAD')
    .map(({ bytes }) => bytes);
  const altered = (pattern: RegExp, values: readonly string[]): fc.Arbitrary<string> =>
    fc.tuple(base, fc.constantFrom(...values)).map(([bytes, value]) => bytes.replace(pattern, () => value));
  const withLine = (lines: readonly string[]): fc.Arbitrary<string> =>
    altered(
      /\r\n/,
      lines.map((line) => `\r\n${line}\r\n`),
    );
  const inChunks = (version: string, chunks: string): string =>
    `POST /plants ${version}\r\nHost: x\r\nAuthorization: Bearer ${user}\r\nContent-Type: application/json\r\n` +
    `Transfer-Encoding: chunked\r\n\r\n${chunks}\r\n\r\n`;
  const refused = fc.oneof(
    withLine(malformedLines),
    altered(/HTTP\/1\.[01]/, malformedVersions),
    altered(/^\w+/, ['FOO', 'get', '"GET"', '\x16\x03\x01']),
    fc.constantFrom(...malformedChunks).map((chunks) => inChunks('HTTP/1.1', chunks)),
    fc.constant(inChunks('HTTP/1.0', '0')),
  );
  const doubtful = fc.oneof(withLine(doubtfulLines), altered(/ HTTP\/1\.[01]\r\nHost:.*/, [' HTTP/1.1']));
  const mutated = fc
    .tuple(fc.oneof(base, doubtful, refused), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([bytes, mutations]) => mutations.reduce(mutate, bytes));
  const start = fc.oneof(
    { weight: 4, arbitrary: refused.map((bytes) => [bytes, true] as const) },
    { weight: 11, arbitrary: fc.oneof(doubtful, mutated, mutated, garbage).map((bytes) => [bytes, false] as const) },
  );
  return fc
    .tuple(start, fc.oneof(fc.constant(''), base))
    .map(([[bytes, isRefused], more]) => ({ bytes: bytes + more, user, isRefused }));
}
