import assert from 'node:assert/strict';
import { it } from 'node:test';
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

it('corsOrigin lets only web pages of its origins read responses, and by default none', async (t) => {
  const strangers = ['https://evil.example', `${app}.evil.example`, 'http://app.example.com', 'null', undefined];
  for (const { corsOrigin, origins, expected } of [
    { corsOrigin: undefined, origins: [app], expected: {} },
    { corsOrigin: [], origins: [app], expected: {} },
    { corsOrigin: app, origins: [app], expected: { vary: 'Origin', ...readable(app) } },
    { corsOrigin: [local, app], origins: [app], expected: { vary: 'Origin', ...readable(app) } },
    { corsOrigin: [app, local], origins: strangers, expected: { vary: 'Origin' } },
    { corsOrigin: '*', origins: [app, undefined], expected: readable('*') },
  ]) {
    const { url, send } = createFetchService(t, { corsOrigin });
    for (const origin of origins) {
      const headers = { authorization: 'Bearer ada', ...(origin !== undefined && { origin }) };
      for (const target of ['/plants', '/plants?limit=x', '/elsewhere']) {
        const response = await send(new Request(url + target, { headers }));
        assert.deepEqual(corsOf(response), expected, `${target} from ${origin}`);
      }
      const response = await send(new Request(`${url}/plants/1`, { method: 'OPTIONS', headers }));
      const preflight = { 'access-control-allow-methods': 'DELETE, OPTIONS', 'access-control-max-age': '7200' };
      assert.deepEqual(corsOf(response), { ...expected, ...('access-control-allow-origin' in expected && preflight) });
    }
  }
});

it('parseCorsOrigin accepts * or origins as browsers send them, and otherwise throws a TypeError', () => {
  const origins = [app, local, 'https://[::1]:8443', 'capacitor://localhost', 'https://xn--bcher-kva.example'];
  for (const origin of ['*', ...origins]) assert.deepEqual(parseCorsOrigin(origin), [origin]);
  assert.deepEqual(parseCorsOrigin(origins), origins);
  const wrong = ['app.example.com', 'HTTPS://app.example.com', 'https://*.example.com', 'http://localhost:80', 'null'];
  for (const value of [...wrong, `${app}/`, `${app},${local}`, ['*', app], [app, ''], [[app]], 7, null]) {
    assert.throws(() => parseCorsOrigin(value), { name: 'TypeError', message: /^corsOrigin must be/ }, String(value));
  }
});

it('corsOrigin allows the headers that a preflight request asks for, if their names are valid', async (t) => {
  const { url, send } = createFetchService(t, { corsOrigin: '*' });
  const allowed = ['authorization,content-type', 'sentry-trace, x-datadog-trace-id'];
  for (const asked of [...allowed, 'a b', 'a,', 'x;y', 'é']) {
    const headers = { origin: app, 'access-control-request-headers': asked };
    const response = await send(new Request(`${url}/plants`, { method: 'OPTIONS', headers }));
    const expected = allowed.includes(asked) ? asked : null;
    assert.equal(response.headers.get('access-control-allow-headers'), expected);
  }
});
