import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCorsOrigin } from '../../src/http/cors.ts';
import { describeOnBothFronts } from '../support/service.ts';
import type { StartOptions } from '../support/service.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

type Send = (method: string, target: string, headers?: Record<string, string>) => Promise<Response>;

const app = 'https://app.example.com';
const local = 'http://localhost:5173';
const token = { authorization: 'Bearer ada' };

/** The headers of CORS in a response, and the origin that a cache must regard. */
function corsOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
}

const readable = (origin: string): object => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Link, WWW-Authenticate, Retry-After, X-Request-Id',
});

const calls: [method: string, target: string, headers: Record<string, string>, status: number][] = [
  ['GET', '/plants', token, 200],
  ['HEAD', '/plants', token, 200],
  ['GET', '/plants?limit=x', token, 400],
  ['POST', '/plants', token, 400],
  ['GET', '/plants', {}, 401],
  ['DELETE', '/plants/1', { authorization: 'Bearer ada-reads' }, 403],
  ['DELETE', '/plants/1', token, 404],
  ['GET', '/elsewhere', {}, 404],
  ['PUT', '/plants', {}, 405],
  ['GET', '/openapi.json', {}, 200],
];

describeOnBothFronts('corsOrigin', (startService) => {
  const start = async (t: HasAfter, options: StartOptions): Promise<Send> => {
    const { url, send } = await startService(t, options);
    return (method, target, headers = {}) => send(new Request(url + target, { method, headers }));
  };

  it('adds no header by default', async (t) => {
    for (const options of [{}, { corsOrigin: [] }]) {
      const send = await start(t, options);
      for (const [method, target, headers] of calls) {
        assert.deepEqual(corsOf(await send(method, target, { ...headers, origin: app })), {});
      }
      assert.deepEqual(corsOf(await send('OPTIONS', '/plants', { origin: app })), {});
    }
  });

  it('lets the pages of an origin read every response, errors too', async (t) => {
    for (const corsOrigin of [app, [app], [local, app]]) {
      const send = await start(t, { corsOrigin });
      for (const [method, target, headers, status] of calls) {
        const response = await send(method, target, { ...headers, origin: app });
        assert.equal(response.status, status, `${method} ${target}`);
        assert.deepEqual(corsOf(response), { vary: 'Origin', ...readable(app) }, `${method} ${target}`);
      }
    }
  });

  it('names no other origin, and varies by origin for caches', async (t) => {
    const send = await start(t, { corsOrigin: [app, local] });
    for (const origin of ['https://evil.example', `${app}.evil.example`, 'http://app.example.com', 'null', undefined]) {
      for (const method of ['GET', 'OPTIONS']) {
        const response = await send(method, '/plants', { ...token, ...(origin !== undefined && { origin }) });
        assert.deepEqual(corsOf(response), { vary: 'Origin' }, `${method} from ${origin}`);
      }
    }
    assert.deepEqual(corsOf(await send('GET', '/plants', { origin: local })), { vary: 'Origin', ...readable(local) });
  });

  it('lets all pages read with *, without Vary', async (t) => {
    const send = await start(t, { corsOrigin: '*' });
    for (const [method, target, headers] of calls) {
      assert.deepEqual(corsOf(await send(method, target, { ...headers, origin: app })), readable('*'));
    }
    assert.deepEqual(corsOf(await send('GET', '/plants')), readable('*'));
  });

  it('responds to a preflight with 204, without a token', async (t) => {
    const preflight = {
      origin: app,
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'authorization,content-type',
    };
    for (const [corsOrigin, expected] of [
      ['*', readable('*')],
      [app, { vary: 'Origin', ...readable(app) }],
    ] as const) {
      const send = await start(t, { corsOrigin });
      const response = await send('OPTIONS', '/plants/1', preflight);
      assert.deepEqual([response.status, response.headers.get('allow')], [204, 'DELETE, OPTIONS']);
      assert.deepEqual(corsOf(response), {
        ...expected,
        'access-control-allow-methods': 'DELETE, OPTIONS',
        'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id, traceparent',
        'access-control-max-age': '7200',
      });
      assert.equal((await send('OPTIONS', '/elsewhere', preflight)).status, 404);
    }
  });
});

describe('parseCorsOrigin', () => {
  it('accepts * alone, and the origins that browsers send', () => {
    const others = ['https://[::1]:8443', 'http://192.0.2.1', 'capacitor://localhost', 'https://xn--bcher-kva.example'];
    const origins = [app, local, ...others];
    for (const origin of ['*', ...origins]) assert.deepEqual(parseCorsOrigin(origin), [origin]);
    assert.deepEqual(parseCorsOrigin(origins), origins);
  });

  it('refuses what no browser sends, and says what an origin looks like', () => {
    const wrong = ['app.example.com', 'HTTPS://app.example.com', 'https://App.example.com', 'https://*.example.com'];
    const more = ['https://user@app.example.com', 'http://localhost:80', 'http://a:99999', 'https://', ' ', '', 'null'];
    const lists = [`${app},${local}`, ['*', app], [app, ''], [[app]], 7, null, true];
    for (const value of [...wrong, ...more, ...['/', '/path', ':443'].map((end) => app + end), ...lists]) {
      assert.throws(
        () => parseCorsOrigin(value),
        {
          name: 'TypeError',
          message: /^corsOrigin must be '\*' or origins such as https:\/\/app\.example\.com, in lower case/,
        },
        String(value),
      );
    }
  });
});
