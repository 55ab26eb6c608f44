import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventuallyEqual } from '../../support/eventually.ts';
import { createFetchService } from '../../support/service.ts';
import { newPost, newRequest } from './requests.ts';

const fern = '{"id":1,"name":"Fern"}';

const errorOf = async (response: Response): Promise<unknown[]> => [
  response.status,
  ((await response.json()) as { error: number }).error,
];

describe('fetch request body', () => {
  it('is not accessed if the request can be refused from its header alone, or if the method is DELETE', async (t) => {
    const { send } = createFetchService(t, { maxBodyBytes: 100 });
    for (const [method, target, token, expected] of [
      ['POST', '/plants', 'unknown', [401, 40102]],
      ['POST', '/plants', 'ada', [400, 40008]],
      ['DELETE', '/plants/1', 'ada', [404, 40402]],
    ] as const) {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': '101',
      };
      const request = newRequest(method, target, { body: new ReadableStream(), duplex: 'half', headers });
      Object.defineProperty(request, 'body', { get: () => assert.fail('The body was accessed.') });
      assert.deepEqual(await errorOf(await send(request)), expected);
      assert.equal(request.bodyUsed, false);
    }
  });

  it('is canceled when it exceeds maxBodyBytes', async (t) => {
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
    assert.deepEqual(await errorOf(await send(newPost(endless))), [400, 40008]);
    assert.equal(cancels, 1);
    // Four chunks are 64 KiB. The fifth exceeds the limit, and the stream reads a sixth ahead.
    assert.ok(pulls <= 6, `${pulls} chunks were read`);
  });

  it('causes a 500 response and a helpful TypeError if it was already read or is being read', async (t) => {
    const { send, store, faults } = createFetchService(t);
    const [used, locked] = [newPost(fern), newPost(fern)];
    await used.json();
    locked.body?.getReader();
    const handled = newPost('x');
    await send(handled);
    assert.equal(handled.body?.locked, false);
    for (const request of [used, locked, handled]) {
      assert.deepEqual(await errorOf(await send(request)), [500, 50000]);
    }
    assert.equal(faults.length, 3);
    for (const fault of faults) {
      assert.ok(fault instanceof TypeError);
      assert.match(fault.message, /already read: call the fetch handler before any body parser/);
    }
    assert.deepEqual(await store.listPlants('ada'), []);
  });
});

describe('a fetch request whose method is a property of every object', () => {
  it('gets 405', async (t) => {
    const { send, store } = createFetchService(t);
    for (const method of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const headers = { authorization: 'Bearer ada-reads' };
      assert.deepEqual(await errorOf(await send(newRequest(method, '/plants', { headers }))), [405, 40500], method);
    }
    assert.deepEqual(await store.listPlants('ada'), []);
  });
});

describe('a fetch request whose client disconnects', () => {
  it('has no effect if its body stream fails', async (t) => {
    const { send, store, faults } = createFetchService(t);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(Buffer.from('{"id":1,'));
      },
      pull: (controller) => {
        controller.error(new Error('ECONNRESET'));
      },
    });
    assert.deepEqual(await errorOf(await send(newPost(body))), [400, 40009]);
    assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
  });

  it('has no effect if its signal is aborted, whether its body is complete or endless', async (t) => {
    const { send, store, faults } = createFetchService(t);
    const complete = newPost(fern, { signal: AbortSignal.abort() });
    assert.deepEqual(await errorOf(await send(complete)), [400, 40009]);
    const canceled = Promise.withResolvers<unknown>();
    const client = new AbortController();
    const request = newPost(new ReadableStream({ cancel: canceled.resolve }), { signal: client.signal });
    const response = send(request);
    await eventuallyEqual(() => request.body?.locked, true);
    client.abort();
    assert.deepEqual(await errorOf(await response), [400, 40009]);
    await canceled.promise;
    assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
  });
});
