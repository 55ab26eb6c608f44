import { changed, onRequest, onResponse, onStatus } from './fault.ts';
import type { BrokenServer } from './fault.ts';

const error = (integer: number): string => JSON.stringify({ error: integer, message: 'No.' });

/** Alters the OpenAPI document. */
function onDocument(alter: (text: string) => string): BrokenServer['break'] {
  return onResponse(({ status, text }, { target }) =>
    target === '/openapi.json' && status === 200 ? { text: alter(text) } : {},
  );
}

/** Servers that are wrong about credentials, methods, headers or errors. */
export const brokenProtocols: readonly BrokenServer[] = [
  {
    name: 'sends no WWW-Authenticate',
    fails: 'auth-missing-challenge',
    break: onResponse(() => ({ headers: { 'www-authenticate': null } })),
  },
  {
    name: 'has another realm',
    fails: 'auth-missing-challenge',
    break: onStatus(401, { headers: { 'www-authenticate': 'Bearer realm="api"' } }),
  },
  {
    name: 'challenges for Basic credentials',
    fails: 'auth-missing-challenge',
    break: onStatus(401, { headers: { 'www-authenticate': 'Basic realm="plants"' } }),
  },
  {
    name: 'never sends invalid_token',
    fails: 'auth-unknown-token',
    break: onStatus(401, { headers: { 'www-authenticate': 'Bearer realm="plants"' } }),
  },
  {
    name: 'always sends invalid_token',
    fails: 'auth-missing-no-error',
    break: onStatus(401, { headers: { 'www-authenticate': 'Bearer realm="plants", error="invalid_token"' } }),
  },
  {
    name: 'responds with 403 instead of 401',
    fails: 'auth-missing-get',
    break: onStatus(401, { status: 403, text: error(40301) }),
  },
  {
    name: 'responds with 401 instead of 403',
    fails: 'scope-create',
    break: onStatus(403, { status: 401, text: error(40102) }),
  },
  {
    name: 'does not name the missing scope',
    fails: 'scope-challenge',
    break: onStatus(403, { headers: { 'www-authenticate': 'Bearer realm="plants", error="insufficient_scope"' } }),
  },
  {
    name: 'lets a read-only token write',
    fails: 'scope-create',
    break: onRequest((request) => ({
      ...request,
      headers: JSON.parse(JSON.stringify(request.headers).replace('ada-reads', 'ada')) as Record<string, string>,
    })),
  },
  {
    name: 'compares the scheme with its case',
    fails: 'auth-scheme-case',
    break: onRequest((request) => ({
      ...request,
      headers: JSON.parse(JSON.stringify(request.headers).replace(/bearer(?= \w)/, 'Basic')) as Record<string, string>,
    })),
  },
  {
    name: 'accepts a token in the query',
    fails: 'auth-not-in-query',
    break: onRequest((request) => {
      const token = /access_token=(\w+)/.exec(request.target)?.[1];
      return token === undefined ? request : { ...request, headers: { authorization: `Bearer ${token}` } };
    }),
  },
  {
    name: 'accepts the first of several tokens',
    fails: 'auth-malformed',
    break: onRequest((request) => ({
      ...request,
      headers: JSON.parse(JSON.stringify(request.headers).replace(/Bearer (\w+), Bearer \w+/, 'Bearer $1')) as Record<
        string,
        string
      >,
    })),
  },
  {
    name: 'checks the credentials before the path',
    fails: 'order-route-first',
    break: (send) => async (request) =>
      'authorization' in request.headers
        ? send(request)
        : changed(await send({ ...request, target: '/plants', method: 'GET' }), {}),
  },
  {
    name: 'checks the body before the credentials',
    fails: 'order-credentials-before-body',
    break: (send) => async (request) => {
      const response = await send(request);
      return response.status === 401 && request.headers['content-type'] === 'text/plain'
        ? changed(response, { status: 400, text: error(40007) })
        : response;
    },
  },
  {
    name: 'repeats the token in an error',
    fails: 'error-no-leak',
    break: onResponse(({ status }, { headers }) =>
      status === 401
        ? { text: JSON.stringify({ error: 40102, message: `Unknown: ${headers['authorization'] ?? ''}` }) }
        : {},
    ),
  },
  {
    name: 'sends the integer of an error as a string',
    fails: 'error-body',
    break: onResponse(({ text }) => ({ text: text.replace(/^\{"error":(\d+)/, '{"error":"$1"') })),
  },
  {
    name: 'numbers errors freely',
    fails: 'error-integer',
    break: onResponse(({ text }) => ({ text: text.replace(/^\{"error":\d+/, '{"error":7') })),
  },
  {
    name: 'numbers an error differently',
    fails: 'code-id-taken',
    break: onResponse(({ text }) => ({ text: text.replace('"error":40003', '"error":40099') })),
  },
  {
    name: 'sends empty messages',
    fails: 'error-message',
    break: onResponse(({ text }) => ({ text: text.replace(/"message":"[^"]*"\}$/, '"message":""}') })),
  },
  {
    name: 'sends problem details',
    fails: 'error-body',
    break: onResponse(({ status }) =>
      status >= 400 ? { headers: { 'content-type': 'application/problem+json' } } : {},
    ),
  },
  {
    name: 'serves any path',
    fails: 'error-unknown-path',
    break: onRequest((request) => ({ ...request, target: request.target.replace(/^\/plants\/$/, '/plants') })),
  },
  {
    name: 'responds with 404 to an unsupported method',
    fails: 'method-405',
    break: onStatus(405, { status: 404, text: error(40401) }),
  },
  { name: 'sends no Allow', fails: 'method-allow', break: onStatus(405, { headers: { allow: null } }) },
  {
    name: 'does not support HEAD',
    fails: 'head-list',
    break: onResponse((_, { method }) => (method === 'HEAD' ? { status: 405 } : {})),
  },
  {
    name: 'sends other headers to HEAD',
    fails: 'head-headers',
    break: onResponse((_, { method }) => (method === 'HEAD' ? { headers: { 'content-type': 'text/plain' } } : {})),
  },
  {
    name: 'sends a Content-Length of 0 to HEAD',
    fails: 'head-content-length',
    break: onResponse((_, { method }) => (method === 'HEAD' ? { headers: { 'content-length': '0' } } : {})),
  },
  {
    name: 'responds to OPTIONS with 200',
    fails: 'options-collection',
    break: onResponse((_, { method }) => (method === 'OPTIONS' ? { status: 200 } : {})),
  },
  {
    name: 'requires credentials for OPTIONS',
    fails: 'options-anonymous',
    break: onResponse((_, { method, headers }) =>
      method === 'OPTIONS' && !('authorization' in headers) ? { status: 401 } : {},
    ),
  },
  {
    name: 'sends no Cache-Control',
    fails: 'header-no-store',
    break: onResponse(() => ({ headers: { 'cache-control': null } })),
  },
  {
    name: 'sends no X-Content-Type-Options',
    fails: 'header-nosniff',
    break: onResponse(() => ({ headers: { 'x-content-type-options': null } })),
  },
  {
    name: 'declares JSON as text',
    fails: 'header-content-type',
    break: onResponse(() => ({ headers: { 'content-type': 'text/plain' } })),
  },
  {
    name: 'sets a cookie',
    fails: 'header-no-cookies',
    break: onResponse(() => ({ headers: { 'set-cookie': 'session=1' } })),
  },
  {
    name: 'sends a Content-Length with a 204',
    fails: 'header-204-no-length',
    break: onStatus(204, { headers: { 'content-length': '0' } }),
  },
  {
    name: 'has no OpenAPI document',
    fails: 'openapi-200',
    break: onRequest((request) => ({ ...request, target: request.target.replace('/openapi.json', '/swagger.json') })),
  },
  {
    name: 'describes itself in another version',
    fails: 'openapi-version',
    break: onDocument((text) => text.replace('"3.1.0"', '"3.0.3"')),
  },
  {
    name: 'has another title',
    fails: 'openapi-info',
    break: onDocument((text) => text.replace('OpenAPI Plant Store', 'Plants')),
  },
  {
    name: 'does not describe DELETE',
    fails: 'openapi-operations',
    break: onDocument((text) => text.replace('"delete":', '"x-delete":')),
  },
  {
    name: 'does not describe the authentication',
    fails: 'openapi-authentication',
    break: onDocument((text) => text.replace('"scheme":"bearer"', '"scheme":"basic"')),
  },
  {
    name: 'describes limit as a string',
    fails: 'openapi-limit',
    break: onDocument((text) => text.replace('"type":"integer","format":"int32"', '"type":"string","format":"int32"')),
  },
  {
    name: 'describes ids as int32',
    fails: 'openapi-new-plant',
    break: onDocument((text) => text.replaceAll('int64', 'int32')),
  },
  {
    name: 'does not describe a 401',
    fails: 'openapi-statuses',
    break: onDocument((text) => text.replaceAll('"401":', '"x-401":')),
  },
];
