import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRequestListener } from '../../src/http.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { listenUrl } from '../support/listen.ts';
import { startService } from '../support/service.ts';

describe('onError', () => {
  it('by default writes the error, the method and the path, but no secrets', async (t) => {
    const printed = t.mock.method(console, 'error', () => undefined);
    const storage = new MemoryStorage();
    const row = { code: '23502', detail: 'Failing row contains (ROW-SECRET)' };
    const failure = new Error('disk full', { cause: Object.assign(new Error('null value'), row) });
    storage.commit = () => Promise.reject(failure);
    const listener = createRequestListener(new PlantStore({ storage }), { authenticate: () => ({ user: 'ada' }) });
    // Simulates a body parser that sets `body` without reading the request.
    const server = createServer((request, response) => {
      void listener(Object.assign(request, { body: { name: 'BODY-SECRET' } }), response);
    });
    const url = await listenUrl(t, server);
    const headers = {
      authorization: 'Bearer TOKEN-SECRET',
      cookie: 'a=COOKIE-SECRET',
      'content-type': 'application/json',
    };
    const response = await fetch(`${url}/plants?a=QUERY-SECRET`, {
      method: 'POST',
      headers,
      body: '{"id":1,"name":"BODY-SECRET"}',
    });
    assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
    const text = printed.mock.calls.map(({ arguments: args }) => args.map(String).join(' ')).join('\n');
    assert.match(text, /^POST \/plants failed: PlantStoreError: .*storage_unavailable.*Caused by .*\(code 23502\)\n/s);
    assert.doesNotMatch(text, /SECRET/);
  });

  const failing: Record<string, () => unknown> = {
    throws: () => {
      throw new Error('the hook is broken');
    },
    'returns a promise that rejects': () => Promise.reject(new Error('the hook is broken')),
  };
  for (const [what, hook] of Object.entries(failing)) {
    it(`is called once per error and does not end the process if it ${what}`, async (t) => {
      const printed = t.mock.method(console, 'error', () => undefined);
      const cause = new Error('disk full');
      const storage = new MemoryStorage();
      storage.commit = () => Promise.reject(cause);
      const calls: [error: unknown, request: object][] = [];
      const onError = (...call: [unknown, object]): void => {
        calls.push(call);
        return hook() as undefined;
      };
      const service = await startService(t, { storage, onError });
      const answered = await service.call('DELETE', '/plants/7?a=1');
      assert.equal(answered.status, 503);
      const requestId = answered.headers.get('x-request-id');
      assert.deepEqual(
        calls.map(([error, request]) => [(error as Error).cause, request]),
        [[cause, { requestId, method: 'DELETE', path: '/plants/{id}' }]],
      );
      await sleep(1);
      const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line));
      assert.match(lines[0] ?? '', /^onError failed: Error: the hook is broken/);
      assert.match(lines[1] ?? '', /^DELETE \/plants\/\{id\} failed: PlantStoreError.*Caused by Error: disk full/s);
      assert.equal((await service.call('GET', '/plants')).status, 200);
    });
  }
});
