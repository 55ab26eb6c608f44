import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorOf } from '../../support/call.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { createFetchService } from '../../support/service.ts';

const fern = '{"id":1,"name":"Fern"}';
const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };

/** Creates a request with which ada creates a plant. `init` does not need `duplex`, even if the body is a stream. */
function newPost(body: NonNullable<RequestInit['body']>, init: RequestInit = {}): Request {
  return new Request('http://plants.test/plants', { method: 'POST', body, duplex: 'half', headers, ...init });
}

/** Returns the status of a response, and the `error` integer of its body. */
const outcomeOf = async (response: Response): Promise<unknown[]> => [response.status, errorOf(await response.json())];

it('the body of a fetch request is not accessed if the request can be refused from its header alone', async (t) => {
  const { send } = createFetchService(t, { maxBodyBytes: 100 });
  for (const { authorization, expected } of [
    { authorization: 'Bearer unknown', expected: [401, 40102] },
    { authorization: 'Bearer ada', expected: [400, 40008] },
  ]) {
    const request = newPost(new ReadableStream(), {
      headers: { ...headers, authorization, 'content-length': '101' },
    });
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

it('the body of a fetch request causes a 500 and a helpful TypeError if it was already read', async (t) => {
  const { send, store, faults } = createFetchService(t);
  const [used, locked] = [newPost(fern), newPost(fern)];
  await used.json();
  locked.body?.getReader();
  const handled = newPost('x');
  await send(handled);
  assert.equal(handled.body?.locked, false);
  for (const request of [used, locked, handled]) {
    assert.deepEqual(await outcomeOf(await send(request)), [500, 50000]);
  }
  assert.equal(faults.length, 3);
  for (const fault of faults) {
    assert.ok(fault instanceof TypeError);
    assert.match(fault.message, /before any body parser/);
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
