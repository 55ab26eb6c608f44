import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseCorsOrigin } from '../../src/http/cors.ts';
import { createFetchService } from '../support/service.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

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

const preflight = {
  'access-control-allow-methods': 'DELETE, OPTIONS',
  'access-control-max-age': '7200',
};

/** Sends requests from a page of `origin`, and asserts that every response has the expected CORS headers. */
async function assertCors(
  t: HasAfter,
  corsOrigin: string | string[] | undefined,
  origin: string | undefined,
  expected: object,
): Promise<void> {
  const { url, send } = createFetchService(t, { corsOrigin });
  const headers = { authorization: 'Bearer ada', ...(origin !== undefined && { origin }) };
  for (const target of ['/plants', '/plants?limit=x', '/elsewhere']) {
    assert.deepEqual(corsOf(await send(new Request(url + target, { headers }))), expected, `${target} from ${origin}`);
  }
  const response = await send(new Request(`${url}/plants/1`, { method: 'OPTIONS', headers }));
  assert.deepEqual(corsOf(response), { ...expected, ...('access-control-allow-origin' in expected && preflight) });
}

it('corsOrigin lets web pages of its origins read every response, and by default none', async (t) => {
  for (const none of [undefined, []]) await assertCors(t, none, app, {});
  for (const value of [app, [local, app]]) await assertCors(t, value, app, { vary: 'Origin', ...readable(app) });
  for (const other of ['https://evil.example', `${app}.evil.example`, 'http://app.example.com', 'null', undefined]) {
    await assertCors(t, [app, local], other, { vary: 'Origin' });
  }
  for (const origin of [app, undefined]) await assertCors(t, '*', origin, readable('*'));
});

it('parseCorsOrigin accepts either a single * or origins as browsers send them', () => {
  const origins = [app, local, 'https://[::1]:8443', 'capacitor://localhost', 'https://xn--bcher-kva.example'];
  for (const origin of ['*', ...origins]) assert.deepEqual(parseCorsOrigin(origin), [origin]);
  assert.deepEqual(parseCorsOrigin(origins), origins);
});

it('parseCorsOrigin throws a TypeError for any other value', () => {
  const wrong = ['app.example.com', 'HTTPS://app.example.com', 'https://*.example.com', 'http://localhost:80', 'null'];
  for (const value of [...wrong, `${app}/`, `${app},${local}`, ['*', app], [app, ''], [[app]], 7, null]) {
    assert.throws(() => parseCorsOrigin(value), { name: 'TypeError', message: /^corsOrigin must be/ }, String(value));
  }
});

it('corsOrigin allows a preflight request to send the headers that it asks for, if they are header names', async (t) => {
  const { url, send } = createFetchService(t, { corsOrigin: '*' });
  for (const asked of ['authorization,content-type', 'sentry-trace, x-datadog-trace-id', 'a b', 'a,', 'x;y', 'é']) {
    const headers = { origin: app, 'access-control-request-headers': asked };
    const response = await send(new Request(`${url}/plants`, { method: 'OPTIONS', headers }));
    const allowed = /^[a-z, -]+[a-z]$/.test(asked) && asked !== 'a b' ? asked : null;
    assert.equal(response.headers.get('access-control-allow-headers'), allowed);
  }
});
