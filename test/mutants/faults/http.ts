import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const answer = 'test/http/node/send-answer.test.ts';
const listener = 'test/http/listener.test.ts';
const list = 'test/http/plant-list.test.ts';
const malformed = 'test/http/node/validation.test.ts';
const plants = 'test/http/plants.test.ts';
const server = 'test/http/node/server.test.ts';
const drain = 'test/http/node/drain-server.test.ts';

/** What goes over the wire, and what happens to those who send and read slowly or not at all. */
export const httpFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/handler.ts',
    [listener],
    [
      { name: 'scopes are not looked at', find: 'checkScope(caller, scope);', replace: '' },
      {
        name: 'a body is read before the token is looked at',
        find: 'const user = await userOf(request, operation);',
        replace: `if (method === 'POST') await request.readBody(1e6, () => undefined);\n      const user = await userOf(request, operation);`,
      },
      {
        name: 'HEAD is a method that nobody takes',
        find: `method === 'HEAD' ? 'GET' : method`,
        replace: 'method',
        tests: [list],
      },
      {
        name: 'OPTIONS is a method that nobody takes',
        find: `if (method === 'OPTIONS') return`,
        replace: `if (method === 'TRACE') return`,
      },
      {
        name: 'a 405 does not say what is allowed',
        find: `new PlantStoreError('method_not_allowed'), ['Allow', allow])`,
        replace: `new PlantStoreError('method_not_allowed'))`,
      },
      {
        name: 'a fault of this side is not reported',
        find: 'refusal.status >= 500 && ',
        replace: 'refusal.status > 503 && ',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-listener.ts',
    [listener],
    [
      {
        name: 'a list that fails in the middle looks complete',
        find: 'response.destroy();',
        replace: 'response.end();',
        tests: [list],
      },
      {
        name: 'a body without end is read to its end',
        find: 'hasEndlessBody(message, handler.maxBodyBytes)',
        replace: 'hasEndlessBody(message, Infinity)',
        tests: [server],
      },
    ],
  ),
  ...faultsIn(
    'src/http/service-options.ts',
    [plants],
    [
      { name: 'a body may be a byte over 64 KiB', find: 'maxBodyBytes = 65_536', replace: 'maxBodyBytes = 65_537' },
      { name: 'a body may nest 257 levels', find: 'maxBodyDepth = 256', replace: 'maxBodyDepth = 257' },
    ],
  ),
  ...faultsIn(
    'src/http/operations.ts',
    [plants],
    [
      {
        name: 'a delete of an absent plant looks done',
        find: `throw new PlantStoreError('plant_not_found');`,
        replace: 'return { status: 204 };',
      },
      { name: 'an encoded minus is no minus', find: '(3\\d|2d)', replace: '(3\\d)' },
      {
        name: 'a link leaves out the prefix of the app',
        find: 'path: basePath + request.mountPath + path',
        replace: 'path: basePath + path',
        tests: ['test/http/mount.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/bearer.ts',
    [listener],
    [
      { name: 'the scheme is told by its case', find: '=*)$/i', replace: '=*)$/' },
      { name: 'a token may hold anything', find: '([\\w\\-.~+/]+=*)', replace: '(.+)' },
      { name: 'any scope will do', find: '!caller.scopes.includes(scope)', replace: 'caller.scopes.length === 0' },
      { name: 'a bad token gets no reason', find: ', error="invalid_token"', replace: '' },
      {
        name: 'a missing token gets a reason',
        find: `return ['WWW-Authenticate', realm];`,
        replace: 'return [\'WWW-Authenticate\', `${realm}, error="invalid_token"`];',
      },
      { name: 'a refusal does not name the scope', find: 'scope="${scope ?? \'\'}"', replace: 'scope=""' },
    ],
  ),
  ...faultsIn(
    'src/http/routes.ts',
    [listener],
    [
      {
        name: 'a token to read may delete',
        find: `id: 'deletePlant',\n        scope: 'plants:write'`,
        replace: `id: 'deletePlant',\n        scope: 'plants:read'`,
      },
      { name: 'a dot in a path stands for anything', find: `.replace('.', '\\\\.')`, replace: '' },
      { name: 'a path may go on behind a route', find: '([^/]+)', replace: '(.+)' },
      {
        name: 'the authority of a target is its path',
        find: '/^https?:\\/\\/[^/?]*/i.exec(target)?.[0].length ?? 0',
        replace: '0',
      },
      {
        name: 'a query ends at its second question mark',
        find: `target.indexOf('?', origin)`,
        replace: `target.lastIndexOf('?')`,
        tests: [list],
      },
    ],
  ),
  ...faultsIn(
    'src/http/answer.ts',
    [listener],
    [
      {
        name: 'a 500 tells what went wrong',
        find: `new PlantStoreError('internal');`,
        replace: `new PlantStoreError('internal', String(error));`,
      },
      {
        name: 'a 503 does not say when to try again',
        find: `status === 503 ? [...headers, 'Retry-After', '1'] : headers`,
        replace: 'headers',
      },
      { name: 'answers may be kept by others', find: `'Cache-Control', 'no-store', `, replace: '', tests: [plants] },
      {
        name: 'answers may be taken for a page',
        find: `, 'X-Content-Type-Options', 'nosniff'`,
        replace: '',
        tests: [plants],
      },
    ],
  ),
  ...faultsIn(
    'src/http/caller-lookup.ts',
    ['test/http/caller-lookup.test.ts'],
    [
      {
        name: 'an unknown token is somebody',
        find: `if (caller === null || caller === undefined) throw new PlantStoreError('invalid_token');`,
        replace: `if (caller === null || caller === undefined) return { user: 'nobody' };`,
      },
      {
        name: 'a text of scopes is taken for scopes',
        find: `Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')`,
        replace: `typeof scopes === 'string'`,
      },
      { name: 'calls of authenticate wait for ever', find: 'Promise.race([result, late.promise])', replace: 'result' },
      {
        name: 'any number of calls of authenticate may be pending',
        find: 'if (this.#pending >= this.#maxPending)',
        replace: 'if (this.#pending > 1e9)',
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/send-answer.ts',
    [answer],
    [
      { name: 'a length is counted in characters', find: 'Buffer.byteLength(body)', replace: 'body.length' },
      {
        name: 'a client that reads slowly is not waited for',
        find: 'await drained(response);',
        replace: '',
        tests: [list],
      },
      {
        name: 'reading goes on after the client has left',
        find: 'if (response.destroyed) return;\n        const piece',
        replace: 'const piece',
        tests: [server],
      },
      {
        name: 'a client that left is waited for, for ever',
        find: `.once('drain', settle).once('close', settle)`,
        replace: `.once('drain', settle)`,
      },
      { name: 'HEAD reads the whole list', find: 'if (isHead) response.end();\n    else if', replace: 'if' },
      {
        name: 'a piece ends between two surrogates',
        find: 'isHighSurrogate ? end - 1 : end',
        replace: 'end',
        tests: [list],
      },
      {
        name: 'what a client does not take is not counted',
        find: 'this.#unsent.set(response, user, response.writableLength + page.length - at);',
        replace: '',
        tests: ['test/http/unsent-bytes.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/plant-list.ts',
    [list],
    [
      {
        name: 'a list that was cut short does not say so',
        find: 'headers: nextLink(path, limit, first.last), body',
        replace: 'body',
      },
      {
        name: 'a list without a limit ends at a thousand',
        find: 'body: allPages(store, user, first)',
        replace: 'body: first.json',
      },
      { name: 'a limit over a thousand is a thousand', find: 'first.count === limit', replace: 'first.count <= limit' },
      { name: 'of two limits the first counts', find: 'texts.length > 1 || !/', replace: '!/' },
      {
        name: 'of two afters the first counts',
        find: 'texts.length > 1 || after === undefined',
        replace: 'after === undefined',
      },
      { name: 'the largest limit is none', find: 'Number(text) > maxLimit', replace: 'Number(text) >= maxLimit' },
      { name: 'an empty limit is 0', find: '!/^\\d+$/.test(text)', replace: '!/^\\d*$/.test(text)' },
      {
        name: 'a list whose rest was deleted meanwhile is no JSON',
        find: 'if (page.count > 0) yield',
        replace: 'if (page.count >= 0) yield',
      },
      { name: 'a list without a limit keeps all others waiting', find: 'await pageTurn(user);', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/http/long-lists.ts',
    [list],
    [
      {
        name: 'a long list goes on in its middle',
        find: 'last = page.at(-1)?.id;',
        replace: 'last ??= page.at(-1)?.id;',
      },
      { name: 'a long list always goes on', find: `more === undefined ? ''`, replace: `more === null ? ''` },
      {
        name: 'a long list shows plants over its limit',
        find: 'return !wanted.done && wanted.value === id;',
        replace: 'return !wanted.done;',
      },
    ],
  ),
  ...faultsIn(
    'src/http/body.ts',
    ['test/http/body.test.ts'],
    [
      {
        name: 'bodies of one user take the memory of all',
        find: 'this.#maxBytes * userShare',
        replace: 'this.#maxBytes',
      },
      {
        name: 'the memory of a body is never released',
        find: 'if (reserved > 0) this.#received.add(user, -reserved);',
        replace: '',
      },
      {
        name: 'bodies of all users take any memory',
        find: 'this.#received.all + bytes > this.#maxBytes',
        replace: 'this.#received.all < 0',
      },
    ],
  ),
  ...faultsIn(
    'src/http/body.ts',
    [plants],
    [
      {
        name: 'text that is no UTF-8 is taken',
        find: `if (!isUtf8(bytes)) throw new PlantStoreError('invalid_json');`,
        replace: '',
      },
      { name: 'a media type that begins like JSON is JSON', find: '\\s*(?:;|$)/i', replace: '/i' },
      { name: 'another charset is taken for UTF-8', find: '!/^utf-?8$/i.test(charset) || ', replace: '' },
      {
        name: 'a compressed body is taken for text',
        find: ` || (coding?.toLowerCase() ?? 'identity') !== 'identity'`,
        replace: '',
      },
      {
        name: 'two Content-Types are taken for one',
        find: ` && !contentType.includes(',')`,
        replace: '',
        tests: [malformed],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/request-body.ts',
    [plants],
    [
      {
        name: 'a body that came at once has no bound',
        find: 'if (length > maxBytes || length !==',
        replace: 'if (length !==',
      },
      {
        name: 'a body that came in pieces may be a byte too long',
        find: 'if (length > maxBytes) reject',
        replace: 'if (length > maxBytes + 1) reject',
      },
      {
        name: 'a client that left in its body is waited for',
        find: `.on('end', onEnd).on('close', onClose);`,
        replace: `.on('end', onEnd);`,
        tests: ['test/http/node/request-body.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/validation.ts',
    [malformed],
    [
      { name: 'a request without Host is taken', find: 'return isLatest;', replace: 'return false;' },
      {
        name: 'a transfer coding that is not decoded is taken',
        find: `coding.toLowerCase() === 'chunked'`,
        replace: `coding !== ''`,
      },
    ],
  ),
  ...faultsIn(
    'src/http/node/server.ts',
    [server],
    [
      {
        name: 'node:http answers for itself where Host is missing',
        find: 'requireHostHeader: false',
        replace: 'requireHostHeader: true',
      },
      { name: 'CONNECT gets no answer', find: `refuseConnection(socket, 'route_not_found');`, replace: '' },
      {
        name: 'a header that is too large is malformed',
        find: `'HPE_HEADER_OVERFLOW'`,
        replace: `'HPE_HEADER_TOO_LARGE'`,
      },
      { name: 'a request may take for ever', find: 'requestTimeout: 30_000', replace: 'requestTimeout: 0' },
      { name: 'a header may take for ever', find: 'headersTimeout: 10_000', replace: 'headersTimeout: 0' },
      {
        name: 'a draining server keeps connections that were busy',
        find: `if (response?.headersSent === false) response.setHeader('Connection', 'close');`,
        replace: '',
        tests: [drain],
      },
      {
        name: 'a draining server keeps connections that ask again',
        find: `if (!server.listening) response.setHeader('Connection', 'close');`,
        replace: '',
        tests: [drain],
      },
      {
        name: 'connections that fall idle hold up a stop',
        find: `{
    server.closeIdleConnections();
  }`,
        replace: 'undefined',
        tests: [drain],
      },
      { name: 'a stop waits for ever', find: 'server.closeAllConnections();', replace: '', tests: [drain] },
      { name: 'a stop waits for nobody', find: 'await closed;', replace: '', tests: [drain] },
    ],
  ),
  ...faultsIn(
    'src/http/openapi.ts',
    ['test/http/openapi.test.ts'],
    [
      {
        name: 'the document gives limit no bounds',
        find: `  minimum: 0,
    maximum: maxLimit,
  `,
        replace: '',
      },
      {
        name: 'the document has ids of 32 bits',
        find: `format: 'int64',\n  description: 'Identification`,
        replace: `format: 'int32',\n  description: 'Identification`,
      },
      { name: 'the document asks for no token', find: 'security: [{ bearerAuth: [] }]', replace: 'security: []' },
      { name: 'the document says of no scope', find: '[{ bearerAuth: [scope] }]', replace: '[{ bearerAuth: [] }]' },
      {
        name: 'the document lets a NewPlant be without a name',
        find: `required: ['id', 'name']`,
        replace: `required: ['id']`,
      },
    ],
  ),
];
