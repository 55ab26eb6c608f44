import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestMessage } from '../../../src/http.ts';
import { PlantStore } from '../../../src/index.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { HookedStorage } from '../../support/hooked-storage.ts';
import { messagesOf } from '../../support/messages.ts';
import { createFetchService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const headers = { authorization: 'Bearer ada' };

/** Creates a list request from ada. */
function newList(query = '', signal?: AbortSignal): Request {
  return new Request(`http://plants.test/plants${query}`, { headers, ...(signal && { signal }) });
}

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

it('createFetchHandler publishes the message of a list on its end, and other messages immediately', async (t) => {
  const { send, store } = createFetchService(t);
  await createPlants(store, 1001);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const consumed = await send(newList());
  assert.equal(messages.length, 0);
  await consumed.text();
  const canceled = await send(newList());
  await canceled.body?.cancel();
  await send(new Request('http://x/plants', { method: 'HEAD', headers }));
  await send(new Request('http://x/plants/1', { method: 'DELETE', headers }));
  const ended = messages.map(({ operation, status, isComplete }) => [operation, status, isComplete].join(' '));
  const expected = ['getPlants 200 true', 'getPlants 200 false', 'getPlants 200 true', 'deletePlant 204 true'];
  assert.deepEqual(ended, expected);
});

it('createFetchHandler ignores the fragment, the host and the scheme of a URL', async (t) => {
  const { send } = createFetchService(t);
  for (const url of ['http://x/plants#limit', 'https://x:8443/plants?limit=1', 'app://garden/plants']) {
    const response = await send(new Request(url, { headers }));
    assert.deepEqual([response.status, await response.text()], [200, '[]'], url);
  }
  for (const url of ['http://plants', 'http://x//plants', 'http://x/?/plants', 'data:/plants']) {
    assert.equal((await send(new Request(url))).status, 404, url);
  }
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

it('createFetchHandler accepts a request without a signal, as in Azure Functions', async (t) => {
  const { send, store } = createFetchService(t);
  await createPlants(store, 1001);
  const azure: object = { method: 'GET', url: 'http://x/plants', headers: new Headers(headers), body: null };
  assert.equal(((await (await send(azure as Request)).json()) as unknown[]).length, 1001);
});

it('createFetchHandler responds with 500 to a node:http request, and names createRequestListener', async (t) => {
  const { send, faults } = createFetchService(t);
  for (const wrong of [{ method: 'GET', url: '/plants', headers }, {}, undefined] as unknown[]) {
    const response = await send(wrong as Request);
    assert.deepEqual([response.status, ((await response.json()) as { error: number }).error], [500, 50000]);
    const [fault] = faults.splice(0);
    assert.ok(fault instanceof TypeError);
    assert.match(fault.message, /requires a Request.*createRequestListener/);
  }
});
