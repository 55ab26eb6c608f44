import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRequestListener } from '../../src/http.ts';
import { PlantStore, PlantStoreError } from '../../src/index.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { listenUrl } from '../support/listen.ts';
import { createFetchService, fronts } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';

const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };

it('basePath is in Link and in the OpenAPI document, whether or not the request contains it', async (t) => {
  for (const start of Object.values(fronts)) {
    const { store, url, send } = await start(t, { basePath: '/garden' });
    await createPlants(store, 2);
    for (const prefix of ['', '/garden']) {
      const page = await send(new Request(`${url}${prefix}/plants?limit=1`, { headers }));
      assert.equal(page.headers.get('link'), '</garden/plants?limit=1&after=0>; rel="next"');
      const document = await (await send(new Request(`${url}${prefix}/openapi.json`))).json();
      assert.deepEqual((document as { servers: unknown }).servers, [{ url: '/garden' }]);
    }
  }
});

it('onError by default writes the error, the method and the path, but no secrets', async (t) => {
  const printed = t.mock.method(console, 'error', () => undefined);
  const row = { code: '23502', detail: 'Failing row contains (ROW-SECRET)' };
  const storage = new HookedStorage();
  storage.beforeCommit = () => {
    throw new Error('disk full', { cause: Object.assign(new Error('null value'), row) });
  };
  const listener = createRequestListener(new PlantStore({ storage }), { authenticate: () => ({ user: 'ada' }) });
  // Simulates a body parser that sets `body` without reading the request.
  const server = createServer((request, response) => {
    void listener(Object.assign(request, { body: { name: 'BODY-SECRET' } }), response);
  });
  const response = await fetch(`${await listenUrl(t, server)}/plants?a=QUERY-SECRET`, {
    method: 'POST',
    headers: { authorization: 'Bearer TOKEN-SECRET', cookie: 'a=COOKIE-SECRET', 'content-type': 'application/json' },
    body: '{"id":1,"name":"BODY-SECRET"}',
  });
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
  const text = printed.mock.calls.map(({ arguments: args }) => args.map(String).join(' ')).join('\n');
  assert.match(text, /^POST \/plants failed: PlantStoreError: .*storage_unavailable.*Caused by .*\(code 23502\)\n/s);
  assert.doesNotMatch(text, /SECRET/);
});

const failing = [
  () => {
    throw new Error('the hook is broken');
  },
  () => Promise.reject(new Error('the hook is broken')) as unknown as undefined,
];
it('onError is called once per error and does not end the process if it throws or rejects', async (t) => {
  for (const hook of failing) {
    const printed = t.mock.method(console, 'error', () => undefined);
    const cause = new Error('disk full');
    const storage = new HookedStorage();
    storage.beforeCommit = () => {
      throw cause;
    };
    const onError = t.mock.fn<(error: unknown, request: object) => void>(hook);
    const service = createFetchService(t, { storage, onError });
    const answered = await service.call('DELETE', '/plants/7?a=1');
    assert.equal(answered.status, 503);
    const requestId = answered.headers.get('x-request-id');
    assert.deepEqual(
      onError.mock.calls.map(({ arguments: [error, request] }) => [(error as Error).cause, request]),
      [[cause, { requestId, method: 'DELETE', path: '/plants/{id}' }]],
    );
    await nextTurn();
    const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line));
    assert.match(lines[0] ?? '', /^onError failed: Error: the hook is broken/);
    assert.match(lines[1] ?? '', /^DELETE \/plants\/\{id\} failed: PlantStoreError.*Caused by Error: disk full/s);
    assert.equal((await service.call('GET', '/plants')).status, 200);
    printed.mock.restore();
  }
});

it('a wrapper of the store can refuse with 403 and its own message, and its other errors keep their status', async (t) => {
  const { call, store, faults } = createFetchService(t);
  const full = new PlantStoreError('forbidden', 'Your garden is full.');
  const fault = new Error('no such row');
  for (const { error, expected, reported } of [
    { error: full, expected: [403, 40301, 'Your garden is full.'], reported: [] },
    { error: new PlantStoreError('plant_not_found', 'Gone.'), expected: [404, 40402, 'Gone.'], reported: [] },
    { error: fault, expected: [500, 50000, 'An unexpected error occurred.'], reported: [fault] },
  ]) {
    store.deletePlant = () => Promise.reject(error);
    const { status, json, headers } = await call('DELETE', '/plants/7');
    const { error: integer, message } = json as { error: number; message: string };
    assert.deepEqual([status, integer, message], expected);
    assert.equal(headers.get('www-authenticate'), null);
    assert.deepEqual(faults.splice(0), reported);
  }
});
