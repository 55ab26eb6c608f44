import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage } from '../../../src/index.ts';
import { ListStream } from '../../../src/http/fetch/list-stream.ts';
import { ResponseFactory } from '../../../src/http/fetch/response.ts';
import { LongLists } from '../../../src/http/long-lists.ts';
import { plantPageJson } from '../../../src/store/plant-store.ts';
import { UnsentBytes } from '../../../src/http/unsent-bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { createHandler, newRequest } from './requests.ts';
import type { Created } from './requests.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const headers = { authorization: 'Bearer ada' };

/** Generated pages, and how the generator is doing. */
function watchPages(pages: string[]): {
  readonly body: AsyncGenerator<string, void, undefined>;
  readonly state: { read: number; closed: number };
} {
  const state = { read: 0, closed: 0 };
  async function* generate(): AsyncGenerator<string, void, undefined> {
    try {
      for (const page of pages) {
        state.read++;
        yield page;
      }
    } finally {
      state.closed++;
    }
  }
  return { body: generate(), state };
}

interface Watched {
  readonly stream: ReadableStream<Uint8Array>;
  readonly state: { read: number; closed: number };
  readonly unsent: UnsentBytes;
  readonly client: AbortController;
  readonly reported: unknown[];
}

/** A stream of pages for ada. */
function createStream(pages: string[], maxUnsentBytes = 1_000_000): Watched {
  const { body, state } = watchPages(pages);
  const unsent = new UnsentBytes(maxUnsentBytes);
  const client = new AbortController();
  const reported: unknown[] = [];
  const report = (error: unknown): void => void reported.push(error);
  const stream = ListStream.create({ pages: body, user: 'ada', unsent, signal: client.signal, report });
  return { stream, state, unsent, client, reported };
}

/** A handler whose storage counts its reads. Ada has 20 pages of 1000 plants. */
async function createCounting(t: HasAfter): Promise<Created & { readonly reads: { count: number } }> {
  const storage = new MemoryStorage();
  const created = createHandler(t, {}, storage);
  const ids = Array.from({ length: 20_000 }, (_, id) => id);
  for (let at = 0; at < ids.length; at += 5000) {
    await Promise.all(ids.slice(at, at + 5000).map((id) => created.store.createPlant('ada', { id, name: `${id}` })));
  }
  const reads = { count: 0 };
  const list = storage.list.bind(storage);
  storage.list = (user, range) => {
    reads.count++;
    return list(user, range);
  };
  return { ...created, reads };
}

function fail(error: unknown): void {
  assert.fail(String(error));
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

describe('list stream', () => {
  it('sends all pages in pieces of at most 64 KiB of text', async () => {
    const pages = ['[', '\u{1F33F}'.repeat(50_000), '', 'x'.repeat(65_537), ']'];
    const { stream, state } = createStream(pages);
    const pieces: string[] = [];
    for await (const bytes of stream) pieces.push(Buffer.from(bytes).toString());
    assert.equal(pieces.join(''), pages.join(''));
    assert.ok(pieces.every((piece) => piece.length > 0 && piece.length <= 65_536));
    assert.deepEqual(state, { read: 5, closed: 1 });
  });

  it('holds one page while its reader stalls', async (t) => {
    const { handler, reads } = await createCounting(t);
    const response = await handler(newRequest('GET', '/plants', { headers }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await someTurns();
    assert.equal(reads.count, 1);
    await reader.read();
    await someTurns();
    assert.equal(reads.count, 2);
    await reader.cancel();
  });

  it('counts what its reader has not read, until it has', async () => {
    const { stream, unsent } = createStream(['x'.repeat(1000)], 4000);
    await nextTurn();
    assert.equal(unsent.isFull('ada'), true);
    const reader = stream.getReader();
    assert.equal((await reader.read()).value?.length, 1000);
    await nextTurn();
    assert.equal(unsent.isFull('ada'), false);
    assert.equal((await reader.read()).done, true);
  });

  it('fails if its reader is too slow', async () => {
    const { stream, state } = createStream(['x'.repeat(100_000), 'y'], 40_000);
    await nextTurn();
    await assert.rejects(new Response(stream).text(), { code: 'internal' });
    assert.deepEqual(state, { read: 1, closed: 1 });
  });

  it('fails if it is never read, and releases the list', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    const { state } = createStream(['[', ']']);
    await nextTurn();
    assert.deepEqual(state, { read: 1, closed: 0 });
    nowMs = 60_000;
    t.mock.timers.tick(1000);
    await nextTurn();
    assert.deepEqual(state, { read: 1, closed: 1 });
  });

  it('ends the reading if its reader cancels it', async (t) => {
    const { handler, reads, faults } = await createCounting(t);
    const response = await handler(newRequest('GET', '/plants', { headers }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel('the client has disconnected');
    const before = reads.count;
    await someTurns();
    assert.equal(reads.count, before);
    assert.deepEqual(faults, []);
  });

  it('fails and ends the reading if the signal is aborted', async () => {
    const { stream, state, client, unsent, reported } = createStream(['x'.repeat(1000), 'y'], 4000);
    const reader = stream.getReader();
    await nextTurn();
    client.abort();
    await nextTurn();
    assert.deepEqual(state, { read: 1, closed: 1 });
    // The piece that was read ahead.
    await reader.read();
    await assert.rejects(reader.read(), { code: 'internal' });
    assert.equal(unsent.isFull('ada'), false);
    assert.deepEqual(reported, []);
  });

  it('is not read if the signal was aborted before', async (t) => {
    const { handler, reads } = await createCounting(t);
    const { body, state } = watchPages(['[', ']']);
    const options = { user: 'ada', unsent: new UnsentBytes(1000), signal: AbortSignal.abort(), report: fail };
    await assert.rejects(new Response(ListStream.create({ pages: body, ...options })).text(), { code: 'internal' });
    assert.deepEqual(state, { read: 0, closed: 0 });
    assert.deepEqual(await body.next(), { value: undefined, done: true });
    const response = await handler(newRequest('GET', '/plants', { headers, signal: AbortSignal.abort() }));
    assert.equal(response.status, 400);
    assert.equal(reads.count, 0);
  });

  it('fails if the storage fails, and reports the error once', async (t) => {
    const { handler, store, faults } = await createCounting(t);
    const response = await handler(newRequest('GET', '/plants', { headers }));
    await store.close();
    await assert.rejects(response.text(), { code: 'internal', message: 'The list ended before it was complete.' });
    assert.deepEqual(faults.map(String), ['PlantStoreError: The store is closed.']);
  });

  it('is closed if the storage responds only after the client has disconnected', async () => {
    const page = Promise.withResolvers<string>();
    let closed = 0;
    async function* generate(): AsyncGenerator<string, void, undefined> {
      try {
        yield await page.promise;
      } finally {
        closed++;
      }
    }
    const unsent = new UnsentBytes(10);
    const client = new AbortController();
    const options = { user: 'ada', unsent, signal: client.signal, report: fail };
    const response = new Response(ListStream.create({ pages: generate(), ...options }));
    await nextTurn();
    client.abort();
    page.resolve('x'.repeat(1000));
    await assert.rejects(response.text(), { code: 'internal' });
    await nextTurn();
    assert.equal(closed, 1);
    assert.equal(unsent.isFull('ada'), false);
  });

  it('releases the ids of a long list however it ends', async (t) => {
    const { store } = await createCounting(t);
    // Ada may hold a quarter of the ids, or one longer list.
    const lists = new LongLists(store, 20_000);
    const first = await plantPageJson(store, 'ada', { limit: 15_000 });
    const range = { user: 'ada', limit: 15_000, first, isClientGone: () => false };
    for (let round = 0; round < 4; round++) {
      const { body } = await lists.prepare(range);
      const client = new AbortController();
      const options = { user: 'ada', unsent: new UnsentBytes(1_000_000), signal: client.signal, report: fail };
      const stream = ListStream.create({ pages: body, ...options });
      await assert.rejects(lists.prepare(range), { code: 'saturated' });
      if (round % 2 === 0) client.abort();
      else await stream.cancel();
      await eventually(async () => {
        await (await lists.prepare(range)).body.return();
      });
    }
  });

  it('does not count a piece that was read while the next page is awaited', async () => {
    const pages = (async function* () {
      yield 'x'.repeat(1000);
      yield await new Promise<string>(() => undefined);
    })();
    const unsent = new UnsentBytes(4000);
    const { signal } = new AbortController();
    const reader = ListStream.create({ pages, user: 'ada', unsent, signal, report: fail }).getReader();
    await reader.read();
    await nextTurn();
    assert.equal(unsent.isFull('ada'), false);
  });

  it('is not created for HEAD, and the list is closed', async () => {
    const { body, state } = watchPages(['[', ']']);
    await body.next();
    const factory = new ResponseFactory(new UnsentBytes(1000));
    const response = await factory.create({ status: 200, body }, newRequest('HEAD', '/plants'), fail);
    assert.deepEqual([response.status, response.body], [200, null]);
    assert.deepEqual(state, { read: 1, closed: 1 });
  });
});
