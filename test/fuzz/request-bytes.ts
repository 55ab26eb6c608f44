import fc from 'fast-check';
import { anyBody, goodPlant } from './bodies.ts';
import { chunkedBy, goodCredentials, oddLine } from './headers.ts';
import { mutated } from './mutations.ts';
import { anyId } from './numbers.ts';
import { anyQuery, anyTarget, idSegment } from './targets.ts';

/** The parts of a request. */
interface Draft {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly lines: readonly string[];
  readonly body: string;
}

const host = 'Host: x';

const goodCreate: fc.Arbitrary<Draft> = fc
  .tuple(goodCredentials, goodPlant)
  .map(([credentials, body]) => createOf(credentials, body));

const goodDelete: fc.Arbitrary<Draft> = fc
  .tuple(goodCredentials, anyId)
  .map(([credentials, id]) => bare('DELETE', `/plants/${id}`, credentials));

const goodList: fc.Arbitrary<Draft> = fc
  .tuple(
    goodCredentials,
    fc.constantFrom('GET', 'GET', 'HEAD'),
    fc.constantFrom('', '', '?limit=1', '?limit=2', '?limit=2&after=1', '?after=3', '?limit=0'),
  )
  .map(([credentials, method, query]) => bare(method, `/plants${query}`, credentials));

const goodOther: fc.Arbitrary<Draft> = fc.constantFrom(
  bare('GET', '/openapi.json'),
  bare('HEAD', '/openapi.json'),
  bare('OPTIONS', '/plants'),
  bare('OPTIONS', '/plants/1'),
  bare('PUT', '/plants'),
  bare('GET', '/'),
);

/** A correct request of any kind. */
const good: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 6, arbitrary: goodCreate },
  { weight: 3, arbitrary: goodDelete },
  { weight: 3, arbitrary: goodList },
  { weight: 1, arbitrary: goodOther },
);

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PRI',
  'get',
  'Post',
  'QUERY',
  'M-SEARCH',
  'SOURCE',
  'DESCRIBE',
  'PROPFIND',
  'LINK',
  'FOO',
  'G\xcbT',
  '',
  'GET\t',
  '"GET"',
  'X'.repeat(300),
];
const versions = [
  'HTTP/0.9',
  'HTTP/1.0',
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/1.10',
  'HTTP/2.0',
  'HTTP/2',
  'HTTP/3.0',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/ 1.1',
  'HTTP/1,1',
  'HTTP/11',
  'HTTP/9.9',
  'ICE/1.0',
  'RTSP/1.0',
  'HTTPS/1.1',
  '',
  'HTTP/1.1\t',
  'HTTP/1.1\0',
  'XHTTP/1.1',
];

/** A request that is correct except in one place. */
const oddInOnePlace: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(good, anyTarget).map(([draft, target]) => bytesOf({ ...draft, target })) },
  {
    weight: 1,
    arbitrary: fc.tuple(good, fc.constantFrom(...methods)).map(([draft, method]) => bytesOf({ ...draft, method })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(good, fc.constantFrom(...versions)).map(([draft, version]) => bytesOf({ ...draft, version })),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(good, oddLine, fc.nat(4), fc.boolean())
      .map(([draft, line, at, isInPlace]) => bytesOf({ ...draft, lines: withLine(draft.lines, line, at, isInPlace) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(good, oddLine, oddLine)
      .map(([draft, first, second]) => bytesOf({ ...draft, lines: [...draft.lines, first, second] })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(good, fc.nat(4))
      .map(([draft, at]) => bytesOf({ ...draft, lines: draft.lines.filter((_, n) => n !== at) })),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(goodCredentials, anyBody).map(([credentials, body]) => bytesOf(createOf(credentials, body))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(goodCredentials, idSegment)
      .map(([credentials, id]) => bytesOf(bare('DELETE', `/plants/${id}`, credentials))),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(goodCredentials, anyQuery, fc.constantFrom('GET', 'HEAD'))
      .map(([credentials, query, method]) => bytesOf(bare(method, `/plants?${query}`, credentials))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(good, fc.constantFrom('hello', '{}', '\r\n')).map(([draft, body]) =>
      bytesOf({
        ...draft,
        body,
        lines: [...draft.lines.filter((line) => !line.startsWith('Content-Length')), `Content-Length: ${body.length}`],
      }),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        good,
        fc.oneof(goodPlant, anyBody),
        chunkedBy,
        fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'),
      )
      .map(([draft, body, chunked, version]) =>
        bytesOf({
          ...draft,
          version,
          lines: [...draft.lines.filter((line) => !line.startsWith('Content-Length')), 'Transfer-Encoding: chunked'],
          body: chunked(body),
        }),
      ),
  },
);

/** A request that ends the use of the connection for HTTP/1.1, sometimes with bytes after it. */
const tunnel = fc
  .tuple(
    fc.constantFrom(
      'CONNECT x:80 HTTP/1.1',
      'CONNECT /plants HTTP/1.1',
      'CONNECT x:80 HTTP/1.0',
      'GET /plants HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade',
      'PRI * HTTP/2.0',
    ),
    fc.constantFrom('', '\0', 'x'.repeat(100_000)),
  )
  .map(([line, more]) => `${line}\r\n${host}\r\nAuthorization: Bearer ada\r\n\r\n${more}`);

const garbage: fc.Arbitrary<string> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc
    .array(
      fc.constantFrom(
        'GET',
        'POST',
        ' ',
        '/plants',
        'HTTP/1.1',
        '\r\n',
        '\r\n\r\n',
        '\n',
        '\r',
        ':',
        'Host: x',
        'Content-Length: 3',
        '\0',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        '\x16\x03\x01\x02\x00\x01',
        'GET /plants\r\n',
        '[]',
        '0\r\n\r\n',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('')),
);

/** The bytes of one request, as latin1: usually correct, or almost. */
export const requestBytes: fc.Arbitrary<string> = fc.oneof(
  { weight: 10, arbitrary: good.map(bytesOf) },
  { weight: 9, arbitrary: oddInOnePlace },
  { weight: 4, arbitrary: mutated(fc.oneof(good.map(bytesOf), oddInOnePlace)) },
  { weight: 1, arbitrary: fc.oneof(garbage, tunnel) },
);

function createOf(credentials: string, body: string): Draft {
  return {
    method: 'POST',
    target: '/plants',
    version: 'HTTP/1.1',
    lines: [host, credentials, 'Content-Type: application/json', `Content-Length: ${body.length}`],
    body,
  };
}

function bare(method: string, target: string, credentials?: string): Draft {
  return {
    method,
    target,
    version: 'HTTP/1.1',
    lines: credentials === undefined ? [host] : [host, credentials],
    body: '',
  };
}

function bytesOf({ method, target, version, lines, body }: Draft): string {
  return `${[`${method} ${target} ${version}`, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** Inserts a line; `isInPlace` removes the lines with the same name. */
function withLine(lines: readonly string[], line: string, at: number, isInPlace: boolean): string[] {
  const name = line.split(':')[0]?.toLowerCase();
  const rest = isInPlace ? lines.filter((other) => other.split(':')[0]?.toLowerCase() !== name) : lines;
  return [...rest.slice(0, at), line, ...rest.slice(at)];
}
