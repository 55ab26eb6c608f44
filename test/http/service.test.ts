import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type { Authenticate } from '../../src/http.ts';
import { Permits } from '../../src/http/service.ts';
import { PlantStoreError } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { createFetchService, fronts, startService } from '../support/service.ts';

it('every error is passed once to onError, and printed without secrets if onError is missing or fails', async (t) => {
  const printed = t.mock.method(console, 'error', () => undefined);
  const row = { code: '23502', errcode: 1299, detail: 'Failing row contains (ROW-SECRET)' };
  const cause = new Error('disk full', { cause: Object.assign(new Error('null value'), row) });
  const storage = new HookedStorage();
  storage.beforeCommit = () => {
    throw cause;
  };
  const broken = new Error('the hook is broken');
  const throwing = (): never => {
    throw broken;
  };
  // With zone.js, for example, the promises of async functions are not instances of the global Promise.
  const OtherPromise = runInNewContext('Promise') as PromiseConstructor;
  for (const hook of [undefined, throwing, () => OtherPromise.reject(broken)]) {
    const onError = hook && t.mock.fn<(error: unknown, request: object) => unknown>(hook);
    const { call } = createFetchService(t, { storage, onError });
    const { status, headers } = await call('DELETE', '/plants/7?a=QUERY-SECRET');
    assert.deepEqual([status, headers.get('retry-after')], [503, '1']);
    await nextTurn();
    const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line));
    printed.mock.resetCalls();
    if (onError !== undefined) {
      const request = { requestId: headers.get('x-request-id'), method: 'DELETE', path: '/plants/{id}' };
      const calls = onError.mock.calls.map(({ arguments: [error, given] }) => [(error as Error).cause, given]);
      assert.deepEqual(calls, [[cause, request]]);
      assert.match(lines.shift() ?? '', /^onError failed: Error: the hook is broken/);
    }
    assert.equal(lines.length, 1);
    assert.match(lines.join(), /^DELETE \/plants\/\{id\} failed: .*storage_unavailable.*by Error: disk full\n +at /s);
    assert.match(lines.join(), /\nCaused by Error: null value \(code 23502, errcode 1299\)\n +at /);
    assert.doesNotMatch(lines.join(), /SECRET/);
  }
});

it('a PlantStoreError of a store wrapper determines the response, and any other error causes a 500', async (t) => {
  const { call, store, faults } = createFetchService(t, { maxInFlight: 1 });
  const full = new PlantStoreError('forbidden', 'Your garden is full.');
  let reads = 0;
  const readableOnce = Object.defineProperty(new PlantStoreError('forbidden'), 'message', {
    get: () => (++reads === 1 ? 'no' : assert.fail()),
  });
  const fault = new Error('no such row');
  for (const { error, expected, reported } of [
    { error: full, expected: [403, 40301, 'Your garden is full.'], reported: [] },
    { error: readableOnce, expected: [500, 50000, 'An unexpected error occurred.'], reported: [readableOnce] },
    // This request needs the only permit.
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

it('a user that releases one of several permits still holds the others', () => {
  const permits = new Permits(5);
  const take = (): boolean => permits.take('ada');
  assert.deepEqual([take(), take(), take(), take()], [true, true, true, false]);
  permits.release('ada');
  assert.deepEqual([take(), take()], [true, false]);
});

it('maxInFlight refuses the third request of a user after a second, and serves other users meanwhile', async (t) => {
  for (const start of Object.values(fronts)) {
    const held = new Hold();
    const storage = new HookedStorage();
    storage.beforeList = held.hook;
    let calls = 0;
    const authenticate: Authenticate = (user) => {
      calls++;
      return { user };
    };
    const { call, faults } = await start(t, { storage, authenticate, maxInFlight: 3 });
    const listTwice = () => [call('GET', '/plants'), call('GET', '/plants')];
    const lists = listTwice();
    await eventuallyEqual(() => calls, 2);
    const startMs = performance.now();
    // With this limit, a list does not need the storage.
    const refused = call('GET', '/plants?limit=0');
    assert.equal((await call('GET', '/plants?limit=0', { token: 'bob' })).status, 200);
    const { error, headers } = await refused;
    assert.deepEqual([error, headers.get('retry-after')], [50300, '1']);
    assert.ok(performance.now() - startMs > 990);
    held.release();
    for (const { status } of await Promise.all(lists)) assert.equal(status, 200);
    for (const { status } of await Promise.all(listTwice())) assert.equal(status, 200);
    assert.deepEqual(faults, [], 'saturation is not reported');
  }
});

it('a write that the store refuses with saturated releases its permit before the delay', async (t) => {
  const storage = new HookedStorage();
  const { call, store } = await startService(t, { storage, maxInFlight: 1 });
  let deletes = 0;
  store.deletePlant = () => {
    deletes++;
    return Promise.reject(new PlantStoreError('saturated'));
  };
  const refused = call('DELETE', '/plants/7');
  await eventuallyEqual(() => deletes, 1);
  assert.equal((await call('GET', '/plants', { token: 'bob' })).status, 200);
  assert.equal((await refused).error, 50300);
  const held = new Hold();
  storage.beforeList = held.hook;
  const list = call('GET', '/plants');
  await held.begun;
  assert.equal((await call('GET', '/plants', { token: 'bob' })).error, 50300);
  held.release();
  assert.equal((await list).status, 200);
});

it('maxInFlight is 1000 by default', async (t) => {
  const [storage, held] = [new HookedStorage(), new Hold()];
  storage.beforeList = held.hook;
  const { call } = createFetchService(t, { storage, authenticate: (user) => ({ user }) });
  const lists = Array.from({ length: 1001 }, (_, n) => call('GET', '/plants', { token: `user-${n}` }));
  await nextTurn();
  held.release();
  const statuses = (await Promise.all(lists)).map(({ status }) => status);
  assert.deepEqual(statuses, [...Array<number>(1000).fill(200), 503]);
});
