import fc from 'fast-check';
import type { Authenticate, Caller } from '../../src/http.ts';
import { anyBody, anyId, usually, words } from './bodies.ts';

/** The users for whom the clients have tokens that can write. */
export const users = ['ada', 'bob', 'cyn'] as const;
/** A user with more plants than fit on a page. The user's only token can only read. */
export const collector = 'dan';
/** A user without a token. No client is allowed to read or change this user's plants. */
export const stranger = 'eve';

/** The caller of each token. */
const callers: ReadonlyMap<string, Caller> = new Map<string, Caller>([
  ...users.flatMap((user) => [
    [user, { user }] as const,
    [`${user}-reads`, { user, scopes: ['plants:read'] }] as const,
    [`${user}-writes`, { user, scopes: ['plants:write'] }] as const,
  ]),
  [`${collector}-reads`, { user: collector, scopes: ['plants:read'] }],
]);

export const authenticate: Authenticate = (token) => callers.get(token) ?? null;

/** The resource that a target refers to. Queries and ids are not decoded, so they may be percent-encoded. */
export type Route =
  | { readonly kind: 'plants'; readonly query: string }
  | { readonly kind: 'plant'; readonly idText: string }
  | { readonly kind: 'openapi' };

/** A well-formed request and the meaning of its parts. Bytes are latin1 text. */
export interface Request {
  readonly method: string;
  readonly target: string;
  /** `undefined` if the service must respond with 404. */
  readonly route?: Route | undefined;
  /** The caller that the token identifies, or the integer of the error for the credentials. */
  readonly caller: Caller | 40101 | 40102;
  /** Whether the headers declare that the body is JSON in a form that the service supports. */
  readonly isJson: boolean;
  readonly body: string;
  readonly isChunked: boolean;
  /** Whether the connection ends after the response. */
  readonly isFinal: boolean;
  readonly bytes: string;
}

type Target = readonly [text: string, route?: Route];
/** Header lines with their meaning. */
type Lines<Meaning> = readonly [lines: readonly string[], meaning: Meaning];

const oddIds = words(`
  9223372036854775808 -9223372036854775809 99999999999999999999999 007 -0 +1 1.0 1e0 0x1 1n %31 %2d1 %2D1 %2531 %00 %ff
  % %3 %zz 1%20 %201 1%00 %d9%a3 %EF%BC%91 1;x 1,2 . .. %2e%2e 1%2f2 a - --1 * ~`);
const numberTexts = words(`
  0 1 2 3 1000 2147483647 2147483648 -1 01 +1 %2B1 %201 1%20 1.0 1e2 0x1 %D9%A3 NaN 99999999999999999999 %31 1%00
  9223372036854775807 -9223372036854775808 9223372036854775808 999999999999999999`);
const oddNames = words('Limit li%6dit %61fter limit[] x access_token limit%00 __proto__ limit+ %20after');
const unrouted = words(`
  / //plants /plants/ /plants// /plants//1 /plants/1/ /plants/1/2 /./plants /x/../plants /%2e/plants /%70lants
  /plants%00 /plants% /plants;x /PLANTS /openapix.json /openapi.json/ http://x http://x?limit=1 http://x//plants`);

const parameter = fc
  .tuple(
    usually(4, fc.constantFrom('limit', 'after'), fc.constantFrom('', ...oddNames)),
    fc.constantFrom('=', '=', '=', '=', '', '==', '%3d'),
    fc.oneof(anyId.map(String), fc.constantFrom('', ...numberTexts)),
  )
  .map((parts) => parts.join(''));
const parameters = fc
  .tuple(fc.array(parameter, { maxLength: 3 }), fc.constantFrom('&', '&', '&', '&', ';', '&&', '?'))
  .map(([all, separator]) => all.join(separator));
const query = usually(2, fc.constantFrom('', ...words('limit=1 limit=2 limit=2&after=1 after=3 limit=0')), parameters);

/** The start of an absolute target; usually empty, because most targets are not absolute. */
const origin = fc.constantFrom('', '', '', '', '', '', 'http://x', 'HTTP://x:80', 'https://[::1]');
const plantsTarget = origin.map((start): Target => [`${start}/plants`, { kind: 'plants', query: '' }]);
const listTarget = fc
  .tuple(origin, query)
  .map(([start, text]): Target => [`${start}/plants?${text}`, { kind: 'plants', query: text }]);
const plantTarget = fc
  .tuple(
    origin,
    usually(8, anyId.map(String), fc.constantFrom(`${'0'.repeat(300)}1`, ...oddIds)),
    fc.constantFrom('', '', '', '?', '?limit=x'),
  )
  .map(([start, idText, end]): Target => [`${start}/plants/${idText}${end}`, { kind: 'plant', idText }]);
const otherTarget = fc.oneof(
  plantsTarget,
  plantTarget,
  fc.constantFrom('', '?x').map((end): Target => [`/openapi.json${end}`, { kind: 'openapi' }]),
  fc.constantFrom(`/${'1'.repeat(5000)}`, ...unrouted).map((text): Target => [text]),
);

const action = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constant('POST'), plantsTarget) },
  { weight: 5, arbitrary: fc.tuple(fc.constant('DELETE'), plantTarget) },
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('GET', 'GET', 'HEAD'), listTarget) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...words('GET HEAD OPTIONS PUT POST PATCH DELETE')), otherTarget) },
);

/** Generates credentials of these users, usually valid credentials. */
function credentialsOf(owners: readonly string[]): fc.Arbitrary<Lines<Request['caller']>> {
  const line = (token: string): string => `Authorization: Bearer ${token}`;
  const valid = (token: string): Lines<Request['caller']> => [[line(token)], callers.get(token) ?? 40102];
  const owner = fc.constantFrom(...owners);
  return fc.oneof(
    { weight: 24, arbitrary: owner.map(valid) },
    { weight: 4, arbitrary: fc.constantFrom(...owners, collector).map((user) => valid(`${user}-reads`)) },
    { weight: 1, arbitrary: owner.map((user) => valid(`${user}-writes`)) },
    { weight: 1, arbitrary: fc.constantFrom(valid(stranger), valid('"'), valid('x'.repeat(4000))) },
    { weight: 1, arbitrary: owner.map((user): Lines<40102> => [[line(user), line(user)], 40102]) },
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
    [[json, 'Content-Encoding: gzip'], false],
    [[], false],
  ),
);

/** Lines that do not change a request's meaning. Even with all other parts, a header stays shorter than 16 KiB. */
const harmless = [
  ...['TE: trailers', 'Trailer: Content-Length', 'Keep-Alive: timeout=0, max=0', 'Range: bytes=0-1', 'X:'],
  ...['X-HTTP-Method-Override: DELETE', 'If-None-Match: *', 'Accept-Encoding: gzip', '__proto__: x'],
  ...['Content-Length_: 5', 'X: \xff\xfe', `X: ${'x'.repeat(2000)}`],
];

const chunking = fc.record({
  size: fc.constantFrom(1, 3, 10, 1000, 100_000),
  extension: fc.constantFrom('', '', ';x', ';x=y', ';x="y z"'),
  trailer: fc.constantFrom('', '', 'X: y\r\n', 'Authorization: Bearer nobody\r\n'),
});

function inChunks(
  body: string,
  { size, extension, trailer }: { size: number; extension: string; trailer: string },
): string {
  const parts = body.match(new RegExp(`[^]{1,${Math.max(size, Math.ceil(body.length / 50))}}`, 'g')) ?? [];
  const chunks = parts.map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`);
  return `${chunks.join('')}0${extension}\r\n${trailer}\r\n`;
}

/** Generates a well-formed request with tokens of these users. Most requests are also correct. */
export function requestOf(owners: readonly string[]): fc.Arbitrary<Request> {
  const parts = fc.record({
    action,
    credentials: credentialsOf(owners),
    media,
    version: usually(12, fc.constant('1.1'), fc.constant('1.0')),
    host: usually(12, fc.constant('x'), fc.constantFrom('', '[::1]:80')),
    others: usually(6, fc.constant<string[]>([]), fc.array(fc.constantFrom(...harmless), { maxLength: 2 })),
    connection: usually(
      10,
      fc.constant<string[]>([]),
      fc.constantFrom<string[]>(['Connection: close'], ['Connection: keep-alive']),
    ),
    plant: anyBody,
    /** The body of a request that does not need a body. */
    strayBody: usually(10, fc.constant(''), fc.constantFrom('hello', '{}', '\r\n')),
    chunks: usually(4, fc.constant(undefined), chunking),
  });
  return parts.map(({ action, credentials, media, version, host, others, connection, plant, strayBody, chunks }) => {
    const [method, [target, route]] = action;
    const [credentialLines, caller] = credentials;
    const [mediaLines, isJson] = media;
    const body = method === 'POST' ? plant : strayBody;
    const isChunked = chunks !== undefined && version === '1.1' && body !== '';
    const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
    const bodyLines = body === '' ? [] : [...mediaLines, framing];
    const lines = [`Host: ${host}`, ...credentialLines, ...connection, ...others, ...bodyLines];
    const header = [`${method} ${target} HTTP/${version}`, ...lines].join('\r\n');
    const bytes = `${header}\r\n\r\n${isChunked ? inChunks(body, chunks) : body}`;
    const isFinal = connection[0] === 'Connection: close' || (version === '1.0' && connection.length === 0);
    return { method, target, route, caller, isJson: isJson && body !== '', body, isChunked, isFinal, bytes };
  });
}

/** A request after which the server ends the connection. */
export const closingRequest: Request = {
  method: 'OPTIONS',
  target: '/plants',
  route: { kind: 'plants', query: '' },
  caller: 40101,
  isJson: false,
  body: '',
  isChunked: false,
  isFinal: true,
  bytes: 'OPTIONS /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
};
