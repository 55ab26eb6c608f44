import { error, onCredentials, onError, onHeader, onMethod } from './fault.ts';
import { onRequest, onResponse, onStatus, onTarget, onText } from './fault.ts';
import type { Break, BrokenServers } from './fault.ts';

/** Alters the `WWW-Authenticate` header of responses with this status. */
function onChallenge(status: number, challenge: string): Break {
  return onStatus(status, { headers: { 'www-authenticate': challenge } });
}

function leak(message: string): string {
  return JSON.stringify({ error: 40001, message });
}

/** Servers with faults in credentials, the order of checks, errors, methods, headers or the OpenAPI document. */
export const brokenProtocols: BrokenServers = {
  'auth-challenge sends no WWW-Authenticate': onHeader('www-authenticate', null),
  'auth-invalid-token never sends invalid_token': onChallenge(401, 'Bearer realm="plants"'),
  'auth-missing-no-error always sends invalid_token': onChallenge(401, 'Bearer realm="plants", error="invalid_token"'),
  'scope-write responds with 401 instead of 403': onStatus(403, { status: 401, text: error(40102) }),
  'scope-challenge does not name the scope': onChallenge(403, 'Bearer realm="plants", error="insufficient_scope"'),
  'scope-write lets a read-only token write': onCredentials('ada-reads', 'ada'),
  'auth-scheme-case compares the scheme with its case': onCredentials(/^bearer(?= \w)/, 'Basic'),
  'auth-wrong-token ignores the case of a token': onCredentials('ADA', 'ada'),
  'auth-other-scheme accepts a token of another scheme': onCredentials('Token', 'Bearer'),
  'scope-read refuses to list plants': onCredentials('ada-reads', 'ada-writes'),
  'order-scope checks the id before the scope': onResponse(({ status }, { target }) =>
    status === 403 && target === '/plants/x' ? { status: 400, text: error(40004) } : {},
  ),
  'order-credentials refuses an empty body before it checks the credentials': onResponse(({ status }, { body }) =>
    status === 401 && body === '' ? { status: 400, text: error(40001) } : {},
  ),
  'head-list sends a body with HEAD': onMethod('HEAD', { text: '[]' }),
  'auth-wrong-token accepts the first of several tokens': onCredentials(/^Bearer (\w+), Bearer \w+$/, 'Bearer $1'),
  'auth-wrong-token lets an unknown token write': onRequest(({ method, headers }) =>
    method !== 'GET' && headers['authorization']?.includes('unknown') === true
      ? { headers: { ...headers, authorization: 'Bearer ada' } }
      : {},
  ),
  'auth-missing responds to HEAD without credentials': onRequest(({ method, headers }) =>
    method === 'HEAD' ? { headers: { ...headers, authorization: 'Bearer ada' } } : {},
  ),
  'auth-not-in-query accepts a token in the query': onRequest(({ target }) => {
    const token = /access_token=(\w+)/.exec(target)?.[1];
    return token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  }),
  'order-path checks the credentials before the path': onRequest(({ headers }) =>
    'authorization' in headers ? {} : { target: '/plants', method: 'GET' },
  ),
  'order-credentials checks the body before the credentials': onResponse(({ status }, { headers }) =>
    status === 401 && headers['content-type'] === 'text/plain' ? { status: 400, text: error(40007) } : {},
  ),
  'error-body sends the integer of an error as a string': onText(/^\{"error":(\d+)/, '{"error":"$1"'),
  'error-body numbers errors freely': onText(/^\{"error":\d+/, '{"error":7'),
  'error-no-leak repeats the credentials in an error': onResponse(({ status }, { headers }) =>
    status < 400 ? {} : { text: JSON.stringify({ error: status * 100 + 1, message: headers['authorization'] ?? '' }) },
  ),
  'error-no-leak shows a stack trace of Node.js': onError(40001, { text: leak('at f (file:///app/dist/main.js:7:9)') }),
  'error-no-leak shows the path of the database': onError(40003, { text: leak('open /var/lib/plants.db') }),
  'error-integers numbers some errors differently': onText(/^\{"error":40402/, '{"error":40499'),
  'error-unknown-path serves any path': onTarget(/^\/plants\/$/, '/plants'),
  'method-405 responds with 404 to an unsupported method': onStatus(405, { status: 404, text: error(40401) }),
  'method-405 sends no Allow': onStatus(405, { headers: { allow: null } }),
  'head-list sends no Link to HEAD': onMethod('HEAD', { headers: { link: null } }),
  'head-list sends 0 to HEAD': onMethod('HEAD', { headers: { 'content-length': '0' } }),
  'options responds to OPTIONS with 200': onMethod('OPTIONS', { status: 200 }),
  'options requires credentials for OPTIONS': onResponse((_, { method, headers }) =>
    method === 'OPTIONS' && !('authorization' in headers) ? { status: 401 } : {},
  ),
  'header-no-store sends no Cache-Control': onHeader('cache-control', null),
  'openapi has no OpenAPI document': onTarget('/openapi.json', '/swagger.json'),
  'openapi describes itself in another version': onText('"openapi":"3.1.0"', '"openapi":"3.0.3"'),
  'openapi does not describe DELETE': onText('"delete":', '"x-delete":'),
  'openapi describes Basic authentication': onText('"scheme":"bearer"', '"scheme":"basic"'),
  'openapi describes ids as int32': onText(/int64/g, 'int32'),
};
