import { maxInt64 } from '../../src/core/model/int64.ts';
import type { Deliver, Exchange, SentRequest } from './exchange.ts';

/** Breaks a server: returns a function that sends requests to the server, but alters the requests or the responses. */
type Break = (send: Deliver) => Deliver;

/** The parts of a response that a fault changes. A header is removed if its value is `null`. */
interface Change {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly text?: string;
}

/** The part of a text that a fault replaces, and the replacement. */
type Replacement = [from: string | RegExp, to: string | ((found: string) => string)];

function replace(text: string, [from, to]: Replacement): string {
  return text.replace(from, to as string);
}

function onRequest(alter: (request: SentRequest) => Partial<SentRequest>): Break {
  return (send) => (request) => send({ ...request, ...alter(request) });
}

/** Alters bodies. Leaves binary bodies unchanged. */
function onBody(...replacement: Replacement): Break {
  return onRequest(({ body }) => (typeof body === 'string' ? { body: replace(body, replacement) } : {}));
}

function onTarget(...replacement: Replacement): Break {
  return onRequest(({ target }) => ({ target: replace(target, replacement) }));
}

function onSentHeader(name: string, ...replacement: Replacement): Break {
  return onRequest(({ headers }) => {
    const value = headers[name];
    return value === undefined ? {} : { headers: { ...headers, [name]: replace(value, replacement) } };
  });
}

function onCredentials(...replacement: Replacement): Break {
  return onSentHeader('authorization', ...replacement);
}

/** Sends some requests with the token of ada. */
function asAda(isChosen: (request: SentRequest) => boolean): Break {
  return onRequest((request) =>
    isChosen(request) ? { headers: { ...request.headers, authorization: 'Bearer ada' } } : {},
  );
}

function onResponse(alter: (response: Exchange, request: SentRequest) => Change): Break {
  return (send) => async (request) => {
    const response = await send(request);
    const change = alter(response, request);
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(change.headers ?? {})) {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    }
    return { request, status: change.status ?? response.status, headers, text: change.text ?? response.text };
  };
}

function onHeader(name: string, value: string | null): Break {
  return onResponse(() => ({ headers: { [name]: value } }));
}

function onMethod(method: string, change: Change): Break {
  return onResponse((_, request) => (request.method === method ? change : {}));
}

/** Alters the status of the responses whose body is the Error with this integer. */
function onError(integer: number, status: number): Break {
  return onResponse(({ text }) => (text.includes(`"error":${integer}`) ? { status } : {}));
}

function onText(...replacement: Replacement): Break {
  return onResponse(({ text }) => ({ text: replace(text, replacement) }));
}

function onList(alter: (list: { name: string }[]) => unknown): Break {
  return onResponse(({ text }) =>
    text.startsWith('[') ? { text: JSON.stringify(alter(JSON.parse(text) as { name: string }[])) } : {},
  );
}

const isFromBob = ({ headers }: SentRequest): boolean => headers['authorization'] === 'Bearer bob';
const rounded = (digits: string): string => BigInt(Number(digits)).toString();
const clamped = (digits: string): string => (BigInt(digits) > maxInt64 ? maxInt64.toString() : digits);

/**
 * Servers with a deliberate fault, one or more for each check. A key consists of the check that must fail and a
 * description of the fault. Each user's token is the user's name.
 */
export const brokenServers: Readonly<Record<string, Break>> = {
  'auth-missing responds to HEAD without credentials': asAda(({ method }) => method === 'HEAD'),
  'auth-challenge sends no WWW-Authenticate': onHeader('www-authenticate', null),
  'auth-wrong-token accepts the first of several tokens': onCredentials(/^Bearer (\w+), Bearer \w+$/, 'Bearer $1'),
  'auth-other-scheme accepts a token of another scheme': onCredentials('Token', 'Bearer'),
  'auth-scheme-case compares the scheme with its case': onCredentials(/^bearer(?= \w)/, 'Basic'),
  'auth-not-in-query accepts a token in the query': asAda(({ target }) => target.includes('access_token=')),
  'auth-error never sends invalid_token': onHeader('www-authenticate', 'Bearer'),
  'auth-error always sends invalid_token': onHeader('www-authenticate', 'Bearer error="invalid_token"'),

  'scope-read refuses to list plants': onCredentials('ada-reads', 'ada-writes'),
  'scope-write lets a read-only token write': onCredentials('ada-reads', 'ada'),
  'scope-challenge does not name the scope': onHeader('www-authenticate', 'Bearer error="insufficient_scope"'),

  'order-scope checks the id before the scope': onResponse((_, { target }) =>
    target === '/plants/x' ? { status: 400 } : {},
  ),
  'order-path checks the credentials before the path': onRequest(({ headers }) =>
    'authorization' in headers ? {} : { target: '/plants', method: 'GET' },
  ),
  'order-credentials checks the media type before the credentials': onResponse((_, { headers }) =>
    headers['content-type'] === 'text/plain' ? { status: 400 } : {},
  ),

  'isolation-list lists the plants of ada to bob if there is an after': asAda(
    (request) => isFromBob(request) && request.target.includes('after='),
  ),
  'isolation-delete lets bob delete the plants of ada': asAda((each) => isFromBob(each) && each.method === 'DELETE'),
  'isolation-same-id does not let bob hold an id of ada': asAda((each) => isFromBob(each) && each.method === 'POST'),

  'create-200 responds with 201': onMethod('POST', { status: 201 }),
  'create-without-tag returns the tag null': onText(/^\{("name":"[^"]*")\}$/, '{$1,"tag":null}'),
  'create-unknown-fields refuses unknown fields': onBody(/^.*"color".*$/s, '{}'),
  'create-media-type refuses a charset': onSentHeader('content-type', /.*charset.*/, 'text/plain'),
  'create-visible requires unique names': (send) => {
    const seen = new Set<string>();
    return onBody(/"name":"[^"]*"/, (found) => (seen.size < seen.add(found).size ? found : '"id":null'))(send);
  },
  'taken-id responds with 409': onError(40003, 409),
  'taken-id overwrites the stored plant': (send) => async (request) => {
    const id = /^\{"id":(-?\d+),/.exec(String(request.body))?.[1];
    if (id !== undefined) await send({ ...request, method: 'DELETE', target: `/plants/${id}` });
    return send(request);
  },

  'invalid-not-an-object takes anything else for a plant': onBody(/^(?!\{).*/s, '{"id":1,"name":"Fern"}'),
  'invalid-missing-id chooses a missing id': onBody(/^\{"name"/, '{"id":1,"name"'),
  'invalid-missing-name responds with 422 to an invalid plant': onError(40002, 422),
  'invalid-id-type accepts an id in quotation marks': onBody(/"id":"(\d+)"/, '"id":$1'),
  'invalid-id-fraction truncates fractional ids': onBody(/("id":\d+)\.\d+/, '$1'),
  'invalid-name-type accepts null as a name': onBody('"name":null', '"name":"null"'),
  'invalid-tag-type takes a tag that is null for an absent one': onBody(',"tag":null', ''),
  'invalid-text removes U+0000': onBody(/\\u0000/g, ''),

  'body-missing creates a plant if there is no body': onRequest(({ method, headers, body }) =>
    method !== 'POST' || body !== undefined
      ? {}
      : { headers: { ...headers, 'content-type': 'application/json' }, body: '{"id":1,"name":"Fern"}' },
  ),
  'body-malformed decodes every body with replacement characters': onRequest(({ body }) =>
    body instanceof Uint8Array ? { body: new TextDecoder().decode(body) } : {},
  ),
  'body-media-type accepts other types': onSentHeader('content-type', /^text\/.*/, 'application/json'),
  'body-too-large responds with 413': onError(40008, 413),
  'body-deeply-nested crashes': onResponse((_, { body }) => (String(body).includes('[[[[') ? { status: 500 } : {})),

  'int64-exact rounds ids in bodies': onBody(/(?<=^\{"id":)-?\d{1,19}(?=,)/, rounded),
  'int64-exact rounds ids in paths': onTarget(/(?<=^\/plants\/)\d{16,19}$/, rounded),
  'int64-range refuses the largest id': onBody(String(maxInt64), 'null'),
  'int64-out-of-range stores an id beyond int64 under the largest one': onBody(/(?<="id":)\d{19,31}(?=,)/, clamped),
  'int64-notations refuses exponents': onBody(/"id":(\d+)e3/, '"id":"$1"'),
  'string-exact trims strings': onBody(/"\s*([^"]*?)\s*"/g, '"$1"'),

  'error-integer sends the integer of an error as a string': onText(/^\{"error":(\d+)/, '{"error":"$1"'),
  'error-integer numbers some errors differently': onText(/^\{"error":40402/, '{"error":40499'),
  'error-unknown-path serves any path': onTarget(/^\/plants\/$/, '/plants'),

  'list-200 lists plants with an id': onList((list) => list.map((plant) => ({ ...plant, id: 1 }))),
  'header-no-store sends no Cache-Control': onHeader('cache-control', null),
  'list-order lists the plants in reverse': onList((list) => list.reverse()),
  'list-all returns at most 1000 plants': onList((list) => list.slice(0, 1000)),
  'list-unknown-parameter refuses unknown parameters': onTarget('page=7', 'limit=x'),
  'limit-bounds takes limit=0 for no limit': onTarget(/limit=0(?!\d|x)/, ''),
  'limit-invalid takes the first of several limits': onTarget(/(limit=\d+)&limit=\d+/, '$1'),
  'after-exclusive includes after in the list': onTarget(/(?<=after=)\d+/, (after) => String(BigInt(after) - 1n)),
  'after-exclusive rounds after': onTarget(/(?<=after=)\d{16,19}/, rounded),
  'after-invalid ignores an invalid after': onTarget(/after=[^-\d][^&]*/, ''),
  'link-absent always sends a Link': onHeader('link', '</plants?limit=1&after=1>; rel="next"'),
  'link-next sends no Link': onHeader('link', null),
  'link-after-changes skips a plant': onResponse(({ headers }) => {
    const link = headers.get('link')?.replace(/(?<=after=)\d+/, (after) => String(BigInt(after) + 8n));
    return link === undefined ? {} : { headers: { link } };
  }),

  'delete-204 responds with 200 and null': onMethod('DELETE', { status: 200, text: 'null' }),
  'delete-204 does not delete': (send) => (request) =>
    request.method === 'DELETE'
      ? Promise.resolve({ request, status: 204, headers: new Headers(), text: '' })
      : send(request),
  'delete-absent responds with 204': onError(40402, 204),
  'delete-invalid-id accepts ids such as 7x': onTarget(/(?<=^\/plants\/\d+)x$/, ''),

  'head-list sends no Link to HEAD': onMethod('HEAD', { headers: { link: null } }),
  'options requires credentials': onResponse((_, { method, headers }) =>
    method === 'OPTIONS' && !('authorization' in headers) ? { status: 401 } : {},
  ),
  'method-405 sends no Allow': onHeader('allow', null),
  'concurrent-linearizable deletes a plant for two concurrent requests': (send) => {
    const running = new Map<string, Promise<Exchange>>();
    return (request) => {
      if (request.method !== 'DELETE') return send(request);
      const sent = running.get(request.target) ?? send(request).finally(() => running.delete(request.target));
      running.set(request.target, sent);
      return sent;
    };
  },
  'openapi describes ids as int32': onText(/int64/g, 'int32'),
};
