import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRequestListener } from '../../src/http.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { listen } from '../support/listen.ts';
import { describeOnBothFronts, startService } from '../support/service.ts';

const secrets = ['TOKEN-SECRET', 'COOKIE-SECRET', 'QUERY-SECRET', 'BODY-SECRET', 'ROW-SECRET'];

describe('onError', () => {
  it('writes the error, the method and the path by default, and nothing that the client sent', async (t) => {
    const printed = t.mock.method(console, 'error', () => undefined);
    const storage = new MemoryStorage();
    const row = { code: '23502', detail: 'Failing row contains (ROW-SECRET)' };
    const failure = new Error('disk full', { cause: Object.assign(new Error('null value'), row) });
    storage.commit = () => Promise.reject(failure);
    storage.list = () => Promise.reject(failure);
    const listener = createRequestListener(new PlantStore({ storage }), { authenticate: () => ({ user: 'ada' }) });
    // Like a body parser that has not read this body.
    const server = createServer((request, response) => {
      listener(Object.assign(request, { body: { name: 'BODY-SECRET' } }), response);
    });
    const url = `http://127.0.0.1:${await listen(t, server)}`;
    const headers = {
      authorization: 'Bearer TOKEN-SECRET',
      cookie: 'a=COOKIE-SECRET',
      'content-type': 'application/json',
    };
    for (const [method, path, target, body] of [
      ['POST', '/plants', '/plants', '{"id":1,"name":"BODY-SECRET"}'],
      ['GET', '/plants', '/plants', undefined],
      ['DELETE', '/plants/{id}', '/plants/7', undefined],
    ] as const) {
      const init = { method, headers, ...(body !== undefined && { body }) };
      assert.equal((await fetch(`${url}${target}?a=QUERY-SECRET`, init)).status, 503);
      const text = printed.mock.calls.map(({ arguments: args }) => args.map(String).join(' ')).join('\n');
      const problem = 'PlantStoreError: The storage failed. Try again shortly. (code storage_unavailable)';
      assert.ok(text.includes(`${method} ${path} failed: ${problem}\n`), text);
      assert.match(text, /Caused by Error: disk full\n.*Caused by Error: null value \(code 23502\)\n/s);
      for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} in ${text}`);
      assert.ok(text.split('\n').length < 40, text);
      printed.mock.resetCalls();
    }
  });

  const failing: Record<string, () => unknown> = {
    throws: () => {
      throw new Error('the hook is broken');
    },
    'returns a promise that rejects': () => Promise.reject(new Error('the hook is broken')),
  };
  for (const [what, hook] of Object.entries(failing)) {
    it(`is called once for an error, and does not end the process, if it ${what}`, async (t) => {
      const printed = t.mock.method(console, 'error', () => undefined);
      const storage = new MemoryStorage();
      storage.commit = () => Promise.reject(new Error('disk full'));
      let calls = 0;
      const onError = (): void => {
        calls++;
        return hook() as undefined;
      };
      const service = await startService(t, { storage, onError });
      const answered = await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' });
      assert.deepEqual([answered.status, calls], [503, 1]);
      await sleep(1);
      const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line));
      assert.match(lines[0] ?? '', /^onError failed: Error: the hook is broken/);
      assert.match(lines[1] ?? '', /^POST \/plants failed: PlantStoreError.*Caused by Error: disk full/s);
      assert.equal((await service.call('GET', '/plants')).status, 200);
    });
  }
});

describeOnBothFronts('onError', (start) => {
  it('receives the method and the path of the OpenAPI document', async (t) => {
    const reports: unknown[] = [];
    const authenticate = (): never => {
      throw new Error('identity provider is down');
    };
    const service = await start(t, { authenticate, onError: (...report) => reports.push(report.slice(1)) });
    for (const [method, target, path] of [
      ['GET', '/plants?a=1', '/plants'],
      ['DELETE', '/plants/pst_secret?a=1', '/plants/{id}'],
    ] as const) {
      const { headers } = await service.call(method, target);
      assert.deepEqual(reports.pop(), [{ requestId: headers.get('x-request-id'), method, path }]);
    }
  });
});
