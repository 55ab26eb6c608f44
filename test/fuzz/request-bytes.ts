import fc from 'fast-check';
import { anyBody, goodPlant } from './bodies.ts';
import { chunkedBy, goodCredentials, oddLine } from './headers.ts';
import { phrases, words } from './lists.ts';
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

function bare(method: string, target: string, ...lines: string[]): Draft {
  return { method, target, version: 'HTTP/1.1', lines: [host, ...lines], body: '' };
}

function createOf(credentials: string, body: string): Draft {
  const draft = bare('POST', '/plants', credentials, 'Content-Type: application/json');
  return withBody(draft, `Content-Length: ${body.length}`, body);
}

/** Replaces the body, and the line that frames it. */
function withBody(draft: Draft, framing: string, body: string): Draft {
  const others = draft.lines.filter((line) => !line.startsWith('Content-Length'));
  return { ...draft, lines: [...others, framing], body };
}

function bytesOf({ method, target, version, lines, body }: Draft): string {
  return `${[`${method} ${target} ${version}`, ...lines].join('\r\n')}\r\n\r\n${body}`;
}

/** Inserts a line; `isInPlace` removes the lines with the same name. */
function withLine(draft: Draft, line: string, at: number, isInPlace: boolean): Draft {
  const nameOf = (text: string): string | undefined => text.split(':')[0]?.toLowerCase();
  const rest = isInPlace ? draft.lines.filter((other) => nameOf(other) !== nameOf(line)) : draft.lines;
  return { ...draft, lines: [...rest.slice(0, at), line, ...rest.slice(at)] };
}

const queries = ['', '', '?limit=1', '?limit=2', '?limit=2&after=1', '?after=3', '?limit=0'];

const goodCreate = fc.tuple(goodCredentials, goodPlant).map(([credentials, body]) => createOf(credentials, body));
const goodDelete = fc
  .tuple(anyId, goodCredentials)
  .map(([id, credentials]) => bare('DELETE', `/plants/${id}`, credentials));
const goodList = fc
  .tuple(fc.constantFrom('GET', 'GET', 'HEAD'), fc.constantFrom(...queries), goodCredentials)
  .map(([method, query, credentials]) => bare(method, `/plants${query}`, credentials));
const otherRoutes = phrases(`
  GET /openapi.json | HEAD /openapi.json | OPTIONS /plants | OPTIONS /plants/1 | PUT /plants | GET /`);
const goodOther = fc.constantFrom(...otherRoutes).map((route) => {
  const [method = '', target = ''] = route.split(' ');
  return bare(method, target);
});

/** A correct request of any kind. */
const good: fc.Arbitrary<Draft> = fc.oneof(
  { weight: 6, arbitrary: goodCreate },
  { weight: 3, arbitrary: goodDelete },
  { weight: 3, arbitrary: goodList },
  { weight: 1, arbitrary: goodOther },
);

const methods = words(`
  GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT PRI get Post QUERY M-SEARCH SOURCE DESCRIBE PROPFIND LINK FOO
  G\xcbT GET\t "GET" ${'X'.repeat(300)}`);
const versions = phrases(`
  HTTP/0.9 | HTTP/1.0 | HTTP/1.0 | HTTP/1.2 | HTTP/1.10 | HTTP/2.0 | HTTP/2 | HTTP/3.0 | http/1.1 | HTTP/1.1\x20
  HTTP/ 1.1 | HTTP/1,1 | HTTP/11 | HTTP/9.9 | ICE/1.0 | RTSP/1.0 | HTTPS/1.1 | HTTP/1.1\t | HTTP/1.1\0 | XHTTP/1.1`);

/** Weights, other values for a part of a correct request, and how they replace it. */
function altered<Value>(
  weight: number,
  values: fc.Arbitrary<Value>,
  change: (draft: Draft, value: Value) => Draft,
): { weight: number; arbitrary: fc.Arbitrary<string> } {
  return { weight, arbitrary: fc.tuple(good, values).map(([draft, value]) => bytesOf(change(draft, value))) };
}

const chunked = fc.tuple(fc.oneof(goodPlant, anyBody), chunkedBy, fc.constantFrom('1.1', '1.1', '1.1', '1.0'));

/** A request that is correct except in one place. */
const oddInOnePlace: fc.Arbitrary<string> = fc.oneof(
  altered(3, anyTarget, (draft, target) => ({ ...draft, target })),
  altered(1, fc.constantFrom('', ...methods), (draft, method) => ({ ...draft, method })),
  altered(2, fc.constantFrom('', ...versions), (draft, version) => ({ ...draft, version })),
  altered(6, fc.tuple(oddLine, fc.nat(4), fc.boolean()), (draft, [line, at, isInPlace]) =>
    withLine(draft, line, at, isInPlace),
  ),
  altered(1, fc.tuple(oddLine, oddLine), (draft, lines) => ({ ...draft, lines: [...draft.lines, ...lines] })),
  altered(1, fc.nat(4), (draft, at) => ({ ...draft, lines: draft.lines.filter((_, n) => n !== at) })),
  altered(1, fc.constantFrom('hello', '{}', '\r\n'), (draft, body) =>
    withBody(draft, `Content-Length: ${body.length}`, body),
  ),
  altered(4, chunked, (draft, [body, encode, version]) => ({
    ...withBody(draft, 'Transfer-Encoding: chunked', encode(body)),
    version: `HTTP/${version}`,
  })),
  altered(6, fc.tuple(goodCredentials, anyBody), (_, [credentials, body]) => createOf(credentials, body)),
  altered(2, fc.tuple(goodCredentials, idSegment), (_, [credentials, id]) =>
    bare('DELETE', `/plants/${id}`, credentials),
  ),
  altered(2, fc.tuple(goodCredentials, anyQuery, fc.constantFrom('GET', 'HEAD')), (_, [credentials, query, method]) =>
    bare(method, `/plants?${query}`, credentials),
  ),
);

const tunnelStarts = phrases(`
  CONNECT x:80 HTTP/1.1 | CONNECT /plants HTTP/1.1 | CONNECT x:80 HTTP/1.0 | PRI * HTTP/2.0`);
const upgrade = 'GET /plants HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade';

/** A request that ends the use of the connection for HTTP/1.1, sometimes with bytes after it. */
const tunnel = fc
  .tuple(fc.constantFrom(upgrade, ...tunnelStarts), fc.constantFrom('', '\0', 'x'.repeat(100_000)))
  .map(([line, more]) => `${line}\r\n${host}\r\nAuthorization: Bearer ada\r\n\r\n${more}`);

const pieces = phrases(
  `GET | POST | /plants | HTTP/1.1 | : | Host: x | Content-Length: 3 | \0 | [] | \x16\x03\x01\x02\0\x01`,
);
const prefaceOfHttp2 = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const withLineEnds = ['\r\n', '\r\n\r\n', '\n', '\r', prefaceOfHttp2, 'GET /plants\r\n', '0\r\n\r\n'];

const garbage: fc.Arbitrary<string> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.array(fc.constantFrom(' ', ...pieces, ...withLineEnds), { maxLength: 8 }).map((parts) => parts.join('')),
);

/** The bytes of one request, as latin1: usually correct, or almost. */
export const requestBytes: fc.Arbitrary<string> = fc.oneof(
  { weight: 10, arbitrary: good.map(bytesOf) },
  { weight: 9, arbitrary: oddInOnePlace },
  { weight: 4, arbitrary: mutated(fc.oneof(good.map(bytesOf), oddInOnePlace)) },
  { weight: 1, arbitrary: fc.oneof(garbage, tunnel) },
);
