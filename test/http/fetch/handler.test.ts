import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlantStore } from '../../../src/index.ts';
import { errorOf } from '../../support/call.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { HookedStorage } from '../../support/hooked-storage.ts';
import { createFetchService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const fern = '{"id":1,"name":"Fern"}';
const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };

/** Creates a list request from ada. */
function newList(signal: AbortSignal | null = null): Request {
  return new Request('http://plants.test/plants', { headers, signal });
}

/** Creates a POST request from ada. The body can be a stream. */
function newPost(body: NonNullable<RequestInit['body']>, init: RequestInit = {}): Request {
  return new Request('http://plants.test/plants', { method: 'POST', body, duplex: 'half', headers, ...init });
}

/** Returns the status of a response, and the `error` integer of its body. */
const outcomeOf = async (response: Response): Promise<unknown[]> => [response.status, errorOf(await response.json())];

/** Creates a service with one permit. Ada has five pages of 1000 plants each. */
async function createLarge(t: HasAfter) {
  const storage = new HookedStorage();
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  await createPlants(store, 5000);
  return { ...createFetchService(t, { store, maxInFlight: 1 }), storage };
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

it('createFetchHandler ignores the fragment, the host and the scheme of a URL, and needs no signal', async (t) => {
  const { send, store } = createFetchService(t);
  for (const url of ['http://x/plants#limit', 'https://x:8443/plants?limit=1', 'app://garden/plants']) {
    const response = await send(new Request(url, { headers }));
    assert.deepEqual([response.status, await response.text()], [200, '[]'], url);
  }
  for (const url of ['http://plants', 'http://x//plants', 'http://x/?/plants', 'data:/plants']) {
    assert.equal((await send(new Request(url))).status, 404, url);
  }
  await createPlants(store, 1001);
  // Azure Functions passes requests without a signal.
  const azure: object = { method: 'GET', url: 'http://x/plants', headers: new Headers(headers), body: null };
  assert.equal(((await (await send(azure as Request)).json()) as unknown[]).length, 1001);
});

it('the stream of a long list reads pages on demand, and holds a permit until it is canceled', async (t) => {
  const { send, call, storage } = await createLarge(t);
  let reads = 0;
  storage.beforeList = () => reads++;
  const { body } = await send(newList());
  assert.ok(body);
  const reader = body.getReader();
  await someTurns();
  assert.equal(reads, 1);
  for (const count of [1, 2, 3]) {
    await reader.read();
    await someTurns();
    assert.equal(reads, count);
  }
  assert.equal((await call('GET', '/plants?limit=0')).error, 50300);
  await reader.cancel();
  assert.equal((await call('GET', '/plants?limit=0')).status, 200);
});

it('the stream of a long list returns its permit if the signal is aborted after garbage collection', async (t) => {
  const { send, call } = await createLarge(t);
  const client = new AbortController();
  assert.equal((await send(newList(client.signal))).status, 200);
  await someTurns();
  collectGarbage();
  client.abort();
  await someTurns();
  assert.equal((await call('GET', '/plants?limit=0')).status, 200);
});

it('the stream of a long list fails if the signal is aborted during the read of a page', async (t) => {
  for (const abortedRead of [1, 2]) {
    const { send, call, storage, faults } = await createLarge(t);
    const client = new AbortController();
    let reads = 0;
    storage.beforeList = () => {
      if (++reads === abortedRead) client.abort();
      return nextTurn();
    };
    const response = await send(newList(client.signal));
    await assert.rejects(response.text(), { code: 'internal' });
    await someTurns();
    assert.equal(reads, abortedRead, 'no further page is read');
    assert.equal((await call('GET', '/plants?limit=0')).status, 200, 'the permit is free');
    assert.deepEqual(faults, []);
  }
});

it('the body of a fetch request is not accessed if the request can be refused from its header alone', async (t) => {
  const { send } = createFetchService(t, { maxBodyBytes: 100 });
  for (const [authorization, expected] of [
    ['Bearer unknown', [401, 40102]],
    ['Bearer ada', [400, 40008]],
  ] as const) {
    const request = newPost(new ReadableStream(), { headers: { ...headers, authorization, 'content-length': '101' } });
    Object.defineProperty(request, 'body', { get: () => assert.fail('The body was accessed.') });
    assert.deepEqual(await outcomeOf(await send(request)), expected);
    assert.equal(request.bodyUsed, false);
  }
});

it('createFetchHandler returns 500 for a node:http request, or a Request whose body was already read', async (t) => {
  const { send, store, faults } = createFetchService(t);
  const [used, locked, handled] = [newPost(fern), newPost(fern), newPost('x')];
  await used.json();
  locked.body?.getReader();
  await send(handled);
  assert.equal(handled.body?.locked, false);
  const ofNode = { method: 'GET', url: '/plants', headers };
  for (const { requests, advice } of [
    { requests: [used, locked, handled], advice: /^TypeError: .*before any body parser/ },
    { requests: [ofNode, {}, undefined], advice: /^TypeError: .*requires a Request.*createRequestListener/ },
  ]) {
    for (const request of requests) {
      assert.deepEqual(await outcomeOf(await send(request as Request)), [500, 50000]);
      assert.match(faults.splice(0).join(), advice);
    }
  }
  assert.deepEqual(await store.listPlants('ada'), []);
});

it('a fetch request has no effect if it is aborted, or if its body fails or is too long', async (t) => {
  const { send, store, faults } = createFetchService(t);
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      controller.error(new Error('ECONNRESET'));
    },
  });
  for (const request of [newPost(failing), newPost(fern, { signal: AbortSignal.abort() })]) {
    assert.deepEqual(await outcomeOf(await send(request)), [400, 40009]);
  }
  for (const { length, error } of [
    { length: 65_537, error: 40008 },
    { length: 1, error: 40009 },
  ]) {
    let cancels = 0;
    const client = new AbortController();
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new Uint8Array(length));
      },
      cancel: () => {
        cancels++;
      },
    });
    const request = newPost(endless, { signal: client.signal });
    const response = send(request);
    if (error === 40009) {
      await eventuallyEqual(() => request.body?.locked, true);
      client.abort();
    }
    assert.deepEqual(await outcomeOf(await response), [400, error]);
    assert.equal(cancels, 1);
  }
  assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
});
