import fc from 'fast-check';
import type { Caller } from '../../src/http.ts';
import { anyBody, goodPlant } from './bodies.ts';
import { callers, stranger } from './callers.ts';
import { listTarget, otherTarget, plantTarget, plantsTarget } from './targets.ts';
import type { Target } from './targets.ts';
import { phrases, words } from './words.ts';

/** A well-formed request and the meaning of its parts. Bytes are latin1 text. */
export interface Request {
  readonly method: string;
  readonly target: Target;
  /** The caller that the token identifies, or the integer of the error for the credentials. */
  readonly caller: Caller | 40101 | 40102;
  /** Whether the headers declare that the body is JSON in a form that the service supports. */
  readonly isJson: boolean;
  readonly expectsContinue: boolean;
  readonly body: string;
  readonly isChunked: boolean;
  /** Whether the connection must end after the response; `maybe` if the server can decide. */
  readonly isLast: boolean | 'maybe';
  readonly bytes: string;
}

/** Header lines with their meaning. */
type Lines<Meaning> = readonly [lines: readonly string[], meaning: Meaning];

/** Generates a value from `usual`, or sometimes from `other`. */
function usually<Value>(weight: number, usual: fc.Arbitrary<Value>, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}

/** Generates credentials of these users, usually valid credentials. */
function credentialsOf(owners: readonly string[]): fc.Arbitrary<Lines<Request['caller']>> {
  const valid = (token: string): Lines<Request['caller']> => [
    [`Authorization: Bearer ${token}`],
    callers.get(token) ?? 40102,
  ];
  const owner = fc.constantFrom(...owners);
  return fc.oneof(
    { weight: 24, arbitrary: owner.map(valid) },
    { weight: 4, arbitrary: fc.constantFrom(...owners, 'dan').map((user) => valid(`${user}-reads`)) },
    { weight: 1, arbitrary: owner.map((user) => valid(`${user}-writes`)) },
    { weight: 1, arbitrary: fc.constantFrom(valid(stranger), valid('"'), valid('x'.repeat(4000))) },
    { weight: 1, arbitrary: owner.map((user) => [[...valid(user)[0], ...valid(user)[0]], 40102] as const) },
    { weight: 1, arbitrary: fc.constantFrom<Lines<40101>>([[], 40101], [['Authorization: Basic YWRhOg=='], 40101]) },
  );
}

const json = 'Content-Type: application/json';
const media = usually<Lines<boolean>>(
  12,
  fc.constant([[json], true]),
  fc.constantFrom(
    [['content-type: Application/JSON;charset="UTF-8"', 'Content-Encoding: identity'], true],
    [['Content-Type: application/json; charset=utf-16'], false],
    [['Content-Type: text/plain'], false],
    [[json, json], false],
    [[json, 'Content-Encoding: gzip'], false],
    [[], false],
  ),
);

/** Lines that do not change a request's meaning. Even with all other parts, a header stays shorter than 16 KiB. */
const harmless = phrases(`
  TE: trailers | Trailer: Content-Length | Keep-Alive: timeout=0, max=0 | Max-Forwards: 0 | Range: bytes=0-1 | X:
  X-HTTP-Method-Override: DELETE | If-None-Match: * | Accept-Encoding: gzip | __proto__: x | Content-Length_: 5
  X: \xff\xfe | X: ${'x'.repeat(2000)}`);

const chunking = fc.record({
  size: fc.constantFrom(1, 3, 10, 1000, 100_000),
  zeros: fc.constantFrom('', '0000'),
  extension: fc.constantFrom('', '', ';x', ';x=y', ';x="y z"'),
  trailer: fc.constantFrom('', '', 'X: y\r\n', 'Authorization: Bearer nobody\r\n'),
});
type Chunking = typeof chunking extends fc.Arbitrary<infer Value> ? Value : never;

function inChunks(body: string, { size, zeros, extension, trailer }: Chunking): string {
  const parts = body.match(new RegExp(`[^]{1,${Math.max(size, Math.ceil(body.length / 50))}}`, 'g')) ?? [];
  const chunks = parts.map((part) => `${zeros}${part.length.toString(16)}${extension}\r\n${part}\r\n`);
  return `${chunks.join('')}0${extension}\r\n${trailer}\r\n`;
}

const action = fc.oneof(
  { weight: 12, arbitrary: plantsTarget.map((target) => ['POST', target] as const) },
  { weight: 5, arbitrary: plantTarget.map((target) => ['DELETE', target] as const) },
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('GET', 'GET', 'HEAD'), listTarget) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('GET', ...words('HEAD OPTIONS PUT POST PATCH DELETE')), otherTarget),
  },
);

/** Generates a well-formed request with tokens of these users. Most requests are also correct. */
export function requestOf(owners: readonly string[]): fc.Arbitrary<Request> {
  const parts = fc.record({
    action,
    credentials: credentialsOf(owners),
    media,
    version: usually(12, fc.constant('1.1'), fc.constant('1.0')),
    host: usually(12, fc.constant('x'), fc.constantFrom('', '[::1]:80')),
    connection: usually(10, fc.constant(''), fc.constantFrom('close', 'keep-alive')),
    expectsContinue: usually(10, fc.constant(false), fc.constant(true)),
    others: usually(6, fc.constant<string[]>([]), fc.array(fc.constantFrom(...harmless), { maxLength: 2 })),
    plant: fc.oneof(goodPlant, anyBody),
    /** The body of a request that does not need a body. */
    strayBody: usually(10, fc.constant(''), fc.constantFrom('hello', '{}', '\r\n')),
    chunks: usually(4, fc.constant(undefined), chunking),
  });
  return parts.map((given) => {
    const { version, host, connection, expectsContinue, others, chunks } = given;
    const [method, target] = given.action;
    const [credentialLines, caller] = given.credentials;
    const [mediaLines, isJson] = given.media;
    const body = method === 'POST' ? given.plant : given.strayBody;
    const isChunked = chunks !== undefined && version === '1.1' && body !== '';
    const lines = [
      `Host: ${host}`,
      ...credentialLines,
      ...(body === '' ? [] : mediaLines),
      ...(connection === '' ? [] : [`Connection: ${connection}`]),
      ...(expectsContinue ? ['Expect: 100-continue'] : []),
      ...others,
      ...(isChunked ? ['Transfer-Encoding: chunked'] : []),
      ...(isChunked || body === '' ? [] : [`Content-Length: ${body.length}`]),
    ];
    const header = [`${method} ${target.text} HTTP/${version}`, ...lines].join('\r\n');
    return {
      method,
      target,
      caller,
      isJson: isJson && body !== '',
      expectsContinue: expectsContinue && version === '1.1',
      body,
      isChunked,
      isLast: connection === 'close' || (version === '1.0' && (connection === '' || 'maybe')),
      bytes: `${header}\r\n\r\n${isChunked ? inChunks(body, chunks) : body}`,
    };
  });
}

/** A request after which the server ends the connection. */
export const closingRequest: Request = {
  method: 'OPTIONS',
  target: { text: '/plants', route: { kind: 'plants', query: '' } },
  caller: 40101,
  isJson: false,
  expectsContinue: false,
  body: '',
  isChunked: false,
  isLast: true,
  bytes: 'OPTIONS /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
};
