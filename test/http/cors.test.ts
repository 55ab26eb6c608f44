import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCorsOrigin } from '../../src/http/cors.ts';
import { createFetchService } from '../support/service.ts';

const app = 'https://app.example.com';
const local = 'http://localhost:5173';

/** Returns a response's CORS headers and `Vary` header. */
function corsOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
}

const readable = (origin: string): object => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Link, WWW-Authenticate, Retry-After, X-Request-Id',
});

const calls = [
  { method: 'GET', target: '/plants', authorization: 'Bearer ada', status: 200 },
  { method: 'GET', target: '/plants', authorization: '', status: 401 },
  { method: 'GET', target: '/elsewhere', authorization: '', status: 404 },
  { method: 'OPTIONS', target: '/elsewhere', authorization: '', status: 404 },
];

const preflight = {
  'access-control-allow-methods': 'DELETE, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id, traceparent, tracestate, baggage',
  'access-control-max-age': '7200',
};
const otherOrigins = ['https://evil.example', `${app}.evil.example`, 'http://app.example.com', 'null', undefined];

/** Values of `corsOrigin`, the origins that send requests, and the expected headers of every response. */
const cases = {
  'adds no header by default': { values: [undefined, []], origins: [app], expected: {} },
  'lets web pages of its origins read every response': {
    values: [app, [app], [local, app]],
    origins: [app],
    expected: { vary: 'Origin', ...readable(app) },
  },
  'adds only Vary to responses to other origins': {
    values: [[app, local]],
    origins: otherOrigins,
    expected: { vary: 'Origin' },
  },
  'lets all web pages read every response if it is *': {
    values: ['*'],
    origins: [app, undefined],
    expected: readable('*'),
  },
};

describe('corsOrigin', () => {
  for (const [what, { values, origins, expected }] of Object.entries(cases)) {
    it(what, async (t) => {
      for (const corsOrigin of values) {
        const { url, send } = createFetchService(t, { corsOrigin });
        for (const origin of origins) {
          const sent = origin === undefined ? {} : { origin };
          for (const { method, target, authorization, status } of calls) {
            const response = await send(new Request(url + target, { method, headers: { authorization, ...sent } }));
            assert.equal(response.status, status, `${method} ${target}`);
            assert.deepEqual(corsOf(response), expected, `${method} ${target} from ${origin}`);
          }
          // A preflight request has no token.
          const headers = { 'access-control-request-method': 'DELETE', ...sent };
          const response = await send(new Request(`${url}/plants/1`, { method: 'OPTIONS', headers }));
          assert.deepEqual([response.status, response.headers.get('allow')], [204, 'DELETE, OPTIONS']);
          const isAllowed = 'access-control-allow-origin' in expected;
          assert.deepEqual(corsOf(response), { ...expected, ...(isAllowed && preflight) });
        }
      }
    });
  }
});

describe('parseCorsOrigin', () => {
  it('accepts either a single * or origins as browsers send them', () => {
    const origins = [app, local, 'https://[::1]:8443', 'capacitor://localhost', 'https://xn--bcher-kva.example'];
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
