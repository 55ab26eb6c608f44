import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage } from '../../../src/index.ts';
import type { ServiceOptions } from '../../../src/fetch.ts';
import { heldStorage } from '../../support/held-storage.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { createHandler, newPost, newRequest } from './requests.ts';
import type { Created } from './requests.ts';

const headers = { authorization: 'Bearer ada' };

/** Creates a request of ada for a list. */
const newList = (target = '/plants', init: RequestInit = {}): Request =>
  newRequest('GET', target, { headers, ...init });

/** A handler whose storage counts its reads. Ada has five pages of 1000 plants. */
async function createCounting(
  t: HasAfter,
  options: Partial<ServiceOptions> = {},
): Promise<Created & { readonly reads: { count: number; beforeEach: () => Promise<void> } }> {
  const storage = new MemoryStorage();
  const created = createHandler(t, options, storage);
  await createPlants(created.store, 5000);
  const reads = { count: 0, beforeEach: () => Promise.resolve() };
  const list = storage.list.bind(storage);
  storage.list = async (user, range) => {
    reads.count++;
    await reads.beforeEach();
    return list(user, range);
  };
  return { ...created, reads };
}

function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  assert.ok(body);
  return body.getReader();
}

/** Returns whether the only permit is free. */
async function isFree({ handler }: Created): Promise<boolean> {
  const request = newRequest('GET', '/plants?limit=0', { headers: { authorization: 'Bearer bob' } });
  return (await handler(request)).status === 200;
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

describe('the stream of a long list', () => {
  it('reads a page when its reader requests it', async (t) => {
    const { handler, reads } = await createCounting(t);
    const reader = readerOf(await handler(newList()));
    await someTurns();
    assert.equal(reads.count, 1);
    for (const count of [1, 2, 3]) {
      await reader.read();
      await someTurns();
      assert.equal(reads.count, count);
    }
    await reader.cancel();
  });

  it('reads no further page after its reader has canceled it', async (t) => {
    const { handler, reads, faults } = await createCounting(t);
    for (const pages of [0, 1, 2]) {
      const reader = readerOf(await handler(newList()));
      for (let n = 0; n < pages; n++) await reader.read();
      const before = reads.count;
      await reader.cancel('the client has disconnected');
      await someTurns();
      assert.equal(reads.count, before);
    }
    assert.deepEqual(faults, []);
  });

  for (const [when, abortedRead] of [
    ['while the first page is being read', 1],
    ['while another page is being read', 2],
    ['between two pages', undefined],
  ] as const) {
    it(`fails if the signal is aborted ${when}, and reads no further page`, async (t) => {
      const created = await createCounting(t, { maxInFlight: 1 });
      const { reads } = created;
      const client = new AbortController();
      reads.beforeEach = async () => {
        if (reads.count === abortedRead) client.abort();
        await nextTurn();
      };
      const reader = readerOf(await created.handler(newList('/plants', { signal: client.signal })));
      if (abortedRead !== 1) await reader.read();
      if (abortedRead === undefined) client.abort();
      const count = abortedRead ?? reads.count;
      const rest = async (): Promise<void> => {
        while (!(await reader.read()).done);
      };
      await assert.rejects(rest, { code: 'internal', message: 'The list ended before it was complete.' });
      await someTurns();
      assert.equal(reads.count, count);
      assert.equal(await isFree(created), true);
      assert.deepEqual(created.faults, []);
    });
  }

  it('leaves no listeners on the signal', async (t) => {
    const { handler } = await createCounting(t);
    const request = newList();
    const response = await handler(request);
    assert.equal(getEventListeners(request.signal, 'abort').length, 1);
    await response.text();
    assert.equal(getEventListeners(request.signal, 'abort').length, 0);
  });

  it('does not fail if it is canceled while a page is being read', async (t) => {
    const { handler, reads, faults } = await createCounting(t);
    const reader = readerOf(await handler(newList()));
    await reader.read();
    const reading = Promise.withResolvers<undefined>();
    reads.beforeEach = () => {
      reading.resolve(undefined);
      return nextTurn();
    };
    const pending = reader.read();
    await reading.promise;
    await reader.cancel();
    assert.deepEqual(await pending, { value: undefined, done: true });
    await someTurns();
    assert.equal(reads.count, 2);
    assert.deepEqual(faults, []);
  });

  it('fails if the storage fails, and the error is reported once', async (t) => {
    const { handler, store, faults } = await createCounting(t);
    const response = await handler(newList());
    await store.close();
    await assert.rejects(response.text(), { code: 'internal', message: 'The list ended before it was complete.' });
    assert.deepEqual(faults.map(String), ['PlantStoreError: The store is closed.']);
  });

  it('is not created if the signal is aborted while the end of the list is being found', async (t) => {
    const { handler, reads, faults } = await createCounting(t);
    const client = new AbortController();
    reads.beforeEach = () => {
      if (reads.count === 2) client.abort();
      return Promise.resolve();
    };
    const response = await handler(newList('/plants?limit=4500', { signal: client.signal }));
    assert.equal(response.status, 400);
    assert.equal(reads.count, 2);
    assert.deepEqual(faults, []);
  });
});

describe('the permit of a fetch request', () => {
  const target = '/plants?limit=3000';

  it('is held until the stream of its response has been read to its end', async (t) => {
    const created = await createCounting(t, { maxInFlight: 1 });
    for (const each of ['/plants', target]) {
      const reader = readerOf(await created.handler(newList(each)));
      do assert.equal(await isFree(created), false);
      while (!(await reader.read()).done);
      assert.equal(await isFree(created), true);
    }
  });

  it('is free after a cancellation or abort in the middle of the stream', async (t) => {
    const created = await createCounting(t, { maxInFlight: 1 });
    const client = new AbortController();
    const { signal } = client;
    for (const end of [
      (reader: ReadableStreamDefaultReader) => reader.cancel(),
      async (reader: ReadableStreamDefaultReader) => {
        client.abort();
        await assert.rejects(reader.read());
      },
    ]) {
      const reader = readerOf(await created.handler(newList('/plants', { signal })));
      await reader.read();
      assert.equal(await isFree(created), false);
      await end(reader);
      assert.equal(await isFree(created), true);
    }
    // The permit was returned only once, although the stream was aborted and then failed.
    const response = await created.handler(newList());
    assert.equal(await isFree(created), false);
    await response.body?.cancel();
  });

  it('is free if the signal is aborted before the response, or while the plant is being committed', async (t) => {
    const { storage, release, committing } = heldStorage();
    const created = createHandler(t, { maxInFlight: 1 }, storage);
    const request = newList('/plants', { signal: AbortSignal.abort() });
    assert.equal((await created.handler(request)).status, 400);
    assert.equal(await isFree(created), true);
    const client = new AbortController();
    const creating = created.handler(newPost('{"id":1,"name":"Fern"}', { signal: client.signal }));
    await committing;
    client.abort();
    release();
    await creating;
    assert.equal(await isFree(created), true);
  });

  it('is free if the signal is aborted while its body is incomplete', async (t) => {
    const created = createHandler(t, { maxInFlight: 1 });
    const client = new AbortController();
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from('{"id":1,'));
      },
    });
    const creating = created.handler(newPost(stream, { signal: client.signal }));
    await someTurns();
    assert.equal(await isFree(created), false);
    client.abort();
    assert.equal((await creating).status, 400);
    assert.equal(await isFree(created), true);
  });
});
