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
function newList(query = '', signal?: AbortSignal): Request {
  return new Request(`http://plants.test/plants${query}`, { headers, ...(signal && { signal }) });
}

/** Creates a request with which ada creates a plant. `init` does not need `duplex`, even if the body is a stream. */
function newPost(body: NonNullable<RequestInit['body']>, init: RequestInit = {}): Request {
  return new Request('http://plants.test/plants', { method: 'POST', body, duplex: 'half', headers, ...init });
}

/** Returns the status of a response, and the `error` integer of its body. */
const outcomeOf = async (response: Response): Promise<unknown[]> => [response.status, errorOf(await response.json())];

/** Creates a service with one permit and a storage that counts reads. Ada has five pages of 1000 plants each. */
async function createCounting(t: HasAfter) {
  const storage = new HookedStorage();
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  const service = createFetchService(t, { store, maxInFlight: 1 });
  await createPlants(store, 5000);
  const reads = { count: 0, beforeEach: (): unknown => undefined };
  storage.beforeList = () => {
    reads.count++;
    return reads.beforeEach();
  };
  return { service, reads };
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

it('the stream of a long list reads each page only when the consumer requests it', async (t) => {
  const { service, reads } = await createCounting(t);
  const { body } = await service.send(newList());
  assert.ok(body);
  const reader = body.getReader();
  await someTurns();
  assert.equal(reads.count, 1);
  for (const count of [1, 2, 3]) {
    await reader.read();
    await someTurns();
    assert.equal(reads.count, count);
  }
  await reader.cancel();
});

it('the stream of a long list returns its permit if the signal is aborted after garbage collection', async (t) => {
  const { service } = await createCounting(t);
  const client = new AbortController();
  assert.equal((await service.send(newList('', client.signal))).status, 200);
  await someTurns();
  collectGarbage();
  client.abort();
  await someTurns();
  assert.equal((await service.send(newList('?limit=1'))).status, 200);
});

it('the stream of a long list fails if the signal is aborted during the read of a page', async (t) => {
  for (const abortedRead of [1, 2]) {
    const { service, reads } = await createCounting(t);
    const client = new AbortController();
    reads.beforeEach = () => {
      if (reads.count === abortedRead) client.abort();
      return nextTurn();
    };
    const response = await service.send(newList('', client.signal));
    await assert.rejects(response.text(), { code: 'internal', message: 'The list ended before it was complete.' });
    await someTurns();
    assert.equal(reads.count, abortedRead, 'no further page is read');
    assert.equal((await service.send(newList('?limit=0'))).status, 200, 'the permit is free');
    assert.deepEqual(service.faults, []);
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

it('the body of a fetch request is canceled when it exceeds maxBodyBytes', async (t) => {
  const { send } = createFetchService(t);
  let [pulls, cancels] = [0, 0];
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulls++;
      controller.enqueue(new Uint8Array(16_384));
    },
    cancel: () => {
      cancels++;
    },
  });
  assert.deepEqual(await outcomeOf(await send(newPost(endless))), [400, 40008]);
  assert.equal(cancels, 1);
  // Four chunks are 64 KiB. The fifth exceeds the limit, and the stream reads a sixth ahead.
  assert.ok(pulls <= 6, `${pulls} chunks were read`);
});

it('createFetchHandler responds with 500 to a request of node:http, or whose body was read, and says what to do', async (t) => {
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

it('a fetch request has no effect if its body stream fails, or if its signal is aborted', async (t) => {
  const { send, store, faults } = createFetchService(t);
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      controller.error(new Error('ECONNRESET'));
    },
  });
  for (const request of [newPost(failing), newPost(fern, { signal: AbortSignal.abort() })]) {
    assert.deepEqual(await outcomeOf(await send(request)), [400, 40009]);
  }
  const canceled = Promise.withResolvers<unknown>();
  const client = new AbortController();
  const endless = newPost(new ReadableStream({ cancel: canceled.resolve }), { signal: client.signal });
  const response = send(endless);
  await eventuallyEqual(() => endless.body?.locked, true);
  client.abort();
  assert.deepEqual(await outcomeOf(await response), [400, 40009]);
  await canceled.promise;
  assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
});
