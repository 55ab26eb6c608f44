import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCorsOrigin } from '../../src/http/cors.ts';
import { describeOnBothFronts } from '../support/service.ts';

const app = 'https://app.example.com';
const local = 'http://localhost:5173';
const token = { authorization: 'Bearer ada' };

/** Returns a response's CORS headers and `Vary` header. */
function corsOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
}

const readable = (origin: string): object => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Link, WWW-Authenticate, Retry-After, X-Request-Id',
});

const calls: [method: string, target: string, headers: Record<string, string>, status: number][] = [
  ['GET', '/plants', token, 200],
  ['POST', '/plants', token, 400],
  ['GET', '/plants', {}, 401],
  ['GET', '/elsewhere', {}, 404],
  ['GET', '/openapi.json', {}, 200],
];

const named = { vary: 'Origin', ...readable(app) };
const preflight = {
  'access-control-allow-methods': 'DELETE, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id, traceparent, tracestate, baggage',
  'access-control-max-age': '7200',
};
const otherOrigins = ['https://evil.example', `${app}.evil.example`, 'http://app.example.com', 'null', undefined];

/** Values of `corsOrigin`, the origins that send requests, and the expected headers of every response. */
const cases: [what: string, values: (string | string[] | undefined)[], origins: (string | undefined)[], object][] = [
  ['adds no header by default', [undefined, []], [app], {}],
  ['lets web pages of its origins read every response', [app, [app], [local, app]], [app], named],
  ['adds only Vary to responses to other origins', [[app, local]], otherOrigins, { vary: 'Origin' }],
  ['lets all web pages read every response if it is *', ['*'], [app, undefined], readable('*')],
];

describeOnBothFronts('corsOrigin', (startService) => {
  for (const [what, values, origins, expected] of cases) {
    it(what, async (t) => {
      for (const corsOrigin of values) {
        const { url, send } = await startService(t, { corsOrigin });
        for (const origin of origins) {
          const sent = origin === undefined ? {} : { origin };
          const call = (method: string, target: string, headers: Record<string, string>): Promise<Response> =>
            send(new Request(url + target, { method, headers: { ...headers, ...sent } }));
          for (const [method, target, headers, status] of calls) {
            const response = await call(method, target, headers);
            assert.equal(response.status, status, `${method} ${target}`);
            assert.deepEqual(corsOf(response), expected, `${method} ${target} from ${origin}`);
          }
          // A preflight request has no token.
          const response = await call('OPTIONS', '/plants/1', { 'access-control-request-method': 'DELETE' });
          assert.deepEqual([response.status, response.headers.get('allow')], [204, 'DELETE, OPTIONS']);
          const isAllowed = 'access-control-allow-origin' in expected;
          assert.deepEqual(corsOf(response), { ...expected, ...(isAllowed && preflight) });
          assert.equal((await call('OPTIONS', '/elsewhere', {})).status, 404);
        }
      }
    });
  }
});

describe('parseCorsOrigin', () => {
  it('accepts either a single * or origins as browsers send them', () => {
    const others = ['https://[::1]:8443', 'http://192.0.2.1', 'capacitor://localhost', 'https://xn--bcher-kva.example'];
    const origins = [app, local, ...others, 'xhttp://a'];
    for (const origin of ['*', ...origins]) assert.deepEqual(parseCorsOrigin(origin), [origin]);
    assert.deepEqual(parseCorsOrigin(origins), origins);
  });

  it('throws a TypeError for any other value', () => {
    const wrong = [
      'app.example.com',
      'HTTPS://app.example.com',
      'https://*.example.com',
      'http://localhost:80',
      'null',
    ];
    for (const value of [...wrong, `${app}/`, `${app},${local}`, ['*', app], [app, ''], [[app]], 7, null]) {
      assert.throws(() => parseCorsOrigin(value), { name: 'TypeError', message: /^corsOrigin must be/ }, String(value));
    }
  });
});
