import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const body = 'test/http/body.test.ts';
const bearer = 'test/http/bearer.test.ts';
const handler = 'test/http/handler.test.ts';
const plantList = 'test/http/plant-list.test.ts';
const operations = 'test/http/operations.test.ts';
const routes = 'test/http/routes.test.ts';
const refuseConnection = 'test/http/node/refuse-connection.test.ts';
const conformance = 'test/http/conformance.test.ts';

/** `src/http`: routes, credentials, bodies, limits and the OpenAPI document. */
export const httpRequestFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/answer.ts',
    [handler, conformance],
    [
      {
        name: 'answer: a 500 reveals its cause',
        find: `new HttpError('internal');`,
        replace: `new HttpError('internal', String(error));`,
      },
      {
        name: 'answer: a 503 has no Retry-After header',
        find: `status === 503 ? [...headers, 'Retry-After', '1'] : headers`,
        replace: 'headers',
      },
      {
        name: 'answer: responses have no Cache-Control header',
        find: `'Cache-Control', 'no-store', `,
        replace: '',
        tests: [operations, conformance],
      },
      {
        name: 'answer: responses have no X-Content-Type-Options header',
        find: `, 'X-Content-Type-Options', 'nosniff'`,
        replace: '',
        tests: [operations, conformance],
      },
    ],
  ),
  ...faultsIn(
    'src/http/bearer.ts',
    [bearer, conformance],
    [
      { name: 'bearer: the scheme is case-sensitive', find: '=*)$/i', replace: '=*)$/' },
      { name: 'bearer: a token may contain any character', find: '([\\w\\-.~+/]+=*)', replace: '(.+)' },
      {
        name: 'bearer: any scope is sufficient',
        find: '!caller.scopes.includes(scope)',
        replace: 'caller.scopes.length === 0',
      },
      { name: 'bearer: the challenge for an invalid token has no error', find: ', error="invalid_token"', replace: '' },
      {
        name: 'bearer: the challenge for missing credentials has an error',
        find: `return ['WWW-Authenticate', realm];`,
        replace: 'return [\'WWW-Authenticate\', `${realm}, error="invalid_token"`];',
      },
      {
        name: 'bearer: the challenge for a missing scope does not name it',
        find: 'scope="${scope ?? \'\'}"',
        replace: 'scope=""',
      },
    ],
  ),
  ...faultsIn(
    'src/http/body.ts',
    [operations, conformance],
    [
      {
        name: 'body: one user may reserve the memory of all',
        find: 'this.#maxReceivedBytes * userShare',
        replace: 'this.#maxReceivedBytes',
        tests: [body],
      },
      {
        name: 'body: reserved memory is never released',
        find: 'if (reserved > 0) this.#received.add(user, -reserved);',
        replace: '',
        tests: [body],
      },
      {
        name: 'body: the memory of all users is not limited',
        find: 'this.#received.all + bytes > this.#maxReceivedBytes',
        replace: 'this.#received.all < 0',
        tests: [body],
      },
      {
        name: 'body: invalid UTF-8 is accepted',
        find: `if (!isUtf8(bytes)) throw new HttpError('invalid_json');`,
        replace: '',
      },
      { name: 'body: a media type with the prefix application/json is accepted', find: '\\s*(?:;|$)/i', replace: '/i' },
      { name: 'body: other charsets are accepted', find: '!/^utf-?8$/i.test(charset) || ', replace: '' },
      {
        name: 'body: a compressed body is accepted',
        find: ` || (coding?.toLowerCase() ?? 'identity') !== 'identity'`,
        replace: '',
      },
      {
        name: 'body: two Content-Type values are accepted',
        find: ` && !contentType.includes(',')`,
        replace: '',
        tests: ['test/http/node/validation.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/caller-lookup.ts',
    ['test/http/caller-lookup.test.ts'],
    [
      {
        name: 'caller lookup: an unknown token is accepted',
        find: `if (caller === null || caller === undefined) throw new HttpError('invalid_token');`,
        replace: `if (caller === null || caller === undefined) return { user: 'nobody' };`,
      },
      {
        name: 'caller lookup: scopes in a string are accepted',
        find: `Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')`,
        replace: `typeof scopes === 'string'`,
      },
      {
        name: 'caller lookup: calls of authenticate never time out',
        find: 'Promise.race([result, late.promise])',
        replace: 'result',
      },
      {
        name: 'caller lookup: the number of pending calls is not limited',
        find: 'if (this.#pending >= this.#maxPending)',
        replace: 'if (this.#pending > 1e9)',
      },
    ],
  ),
  ...faultsIn(
    'src/http/handler.ts',
    [handler, routes, bearer, conformance],
    [
      { name: 'handler: scopes are not checked', find: 'checkScope(caller, scope);', replace: '' },
      {
        name: 'handler: a body is read before the token is checked',
        find: 'const user = await userOf(request, operation, record);',
        replace:
          `if (method === 'POST') await request.readBody(1e6, () => undefined);\n` +
          '      const user = await userOf(request, operation, record);',
      },
      {
        name: 'handler: HEAD is not allowed',
        find: `method === 'HEAD' ? 'GET' : method`,
        replace: 'method',
        tests: [plantList, conformance],
      },
      {
        name: 'handler: OPTIONS is not allowed',
        find: `if (method === 'OPTIONS') {`,
        replace: `if (method === 'TRACE') {`,
      },
      {
        name: 'handler: a 405 has no Allow header',
        find: `new HttpError('method_not_allowed'), ['Allow', allow])`,
        replace: `new HttpError('method_not_allowed'))`,
      },
      {
        name: 'handler: a 500 is not reported',
        find: 'refusal.status >= 500 && ',
        replace: 'refusal.status > 503 && ',
      },
    ],
  ),
  ...faultsIn(
    'src/http/in-flight.ts',
    ['test/http/in-flight.test.ts'],
    [
      {
        name: 'in flight: one user may have all requests in flight',
        find: 'Math.ceil(maxInFlight * userShare)',
        replace: 'maxInFlight',
      },
      { name: 'in flight: one request too many is in flight', find: 'all >= this.#max ', replace: 'all > this.#max ' },
    ],
  ),
  ...faultsIn(
    'src/http/openapi.ts',
    ['test/http/openapi.test.ts'],
    [
      {
        name: 'OpenAPI: the limit parameter has no bounds',
        find: `  minimum: 0,
    maximum: maxLimit,
  `,
        replace: '',
      },
      {
        name: 'OpenAPI: ids are 32-bit integers',
        find: `format: 'int64',\n  description: 'Identification`,
        replace: `format: 'int32',\n  description: 'Identification`,
      },
      { name: 'OpenAPI: no token is required', find: 'security: [{ bearerAuth: [] }]', replace: 'security: []' },
      {
        name: 'OpenAPI: the required scopes are missing',
        find: '[{ bearerAuth: [scope] }]',
        replace: '[{ bearerAuth: [] }]',
      },
      {
        name: 'OpenAPI: the name of a NewPlant is optional',
        find: `required: ['id', 'name']`,
        replace: `required: ['id']`,
      },
    ],
  ),
  ...faultsIn(
    'src/http/operations.ts',
    ['test/http/in-flight.test.ts'],
    [
      {
        name: 'operations: deleting an absent plant succeeds',
        find: `throw new HttpError('plant_not_found');`,
        replace: 'return { status: 204 };',
        tests: [operations, conformance],
      },
      {
        name: 'operations: an encoded minus sign is rejected',
        find: '(3\\d|2d)',
        replace: '(3\\d)',
        tests: [operations, conformance],
      },
      {
        name: 'operations: a Link omits the mount path',
        find: 'path: basePath + request.mountPath + path',
        replace: 'path: basePath + path',
        tests: ['test/http/node/request-listener.test.ts'],
      },
      {
        name: 'operations: a delete does not wait for the end of its body',
        find: 'await request.discardBody(limits.maxBodyBytes);',
        replace: '',
        tests: [refuseConnection],
      },
      {
        name: 'operations: a request takes effect after its connection was closed',
        find: `if (!isOpen) throw new HttpError('malformed_request');`,
        replace: '',
        tests: [refuseConnection],
      },
      {
        name: 'operations: a create stays in flight after its response',
        find: 'newPlant)), user };\n      } finally {\n        inFlight.end(user);',
        replace: 'newPlant)), user };\n      } finally {',
      },
      {
        name: 'operations: a list stays in flight after its response',
        find: 'user, range);\n      } finally {\n        inFlight.end(user);',
        replace: 'user, range);\n      } finally {',
      },
      {
        name: 'operations: a delete stays in flight after its response',
        find: '{ status: 204 };\n      } finally {\n        inFlight.end(user);',
        replace: '{ status: 204 };\n      } finally {',
      },
    ],
  ),
  ...faultsIn(
    'src/http/routes.ts',
    [routes, bearer, conformance],
    [
      {
        name: 'routes: the scope plants:read is sufficient to delete',
        find: `id: 'deletePlant',\n        scope: 'plants:write'`,
        replace: `id: 'deletePlant',\n        scope: 'plants:read'`,
      },
      { name: 'routes: a dot in a path matches any character', find: `.replace('.', '\\\\.')`, replace: '' },
      { name: 'routes: a route matches longer paths', find: '([^/]+)', replace: '(.+)' },
      {
        name: 'routes: the authority of an absolute target is part of the path',
        find: '/^https?:\\/\\/[^/?]*/i.exec(target)?.[0].length ?? 0',
        replace: '0',
      },
      {
        name: 'routes: the query starts at the last question mark',
        find: `target.indexOf('?', origin)`,
        replace: `target.lastIndexOf('?')`,
        tests: [plantList, conformance],
      },
    ],
  ),
  ...faultsIn(
    'src/http/service-options.ts',
    [operations, conformance],
    [
      {
        name: 'service options: a body may exceed 64 KiB by one byte',
        find: 'maxBodyBytes = 65_536',
        replace: 'maxBodyBytes = 65_537',
      },
    ],
  ),
];
