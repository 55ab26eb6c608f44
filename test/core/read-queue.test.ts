import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { JsonPage, PageRequest } from '../../src/core/page.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { emptyPage, toJsonPage } from '../../src/core/page.ts';
import { ReadQueue } from '../../src/core/read-queue.ts';
import { hold, namesIn, openBatchStorage, openQueue, openWithCache, request } from '../support/batch-storage.ts';
import { withCache } from '../support/batch-storage.ts';
import type { BatchStorage } from '../support/batch-storage.ts';
import { turn } from '../support/commits.ts';
import { create } from '../support/writes.ts';

/** Describes each batch by its requests, such as `ada 20, bob 5`. */
const batchesOf = ({ batches }: BatchStorage): string[] =>
  batches.map((batch) => batch.map(({ user, limit }) => `${user} ${limit}`).join(', '));
const readAll = (queue: ReadQueue, requests: readonly PageRequest[]): Promise<JsonPage>[] =>
  requests.map((each) => queue.readPage(each));
const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const noDisk = new Error('no disk');

describe('ReadQueue', () => {
  it('returns the correct page for each request, and reads at most 1000 plants in a batch', async () => {
    const plants = { ada: 1200, bob: 40, eve: 3 };
    const memory = await openBatchStorage(plants);
    const anyRequest = fc.record({
      user: fc.constantFrom('ada', 'bob', 'eve', 'joe'),
      after: fc.option(fc.bigInt({ min: -1n, max: 1300n }), { nil: undefined }),
      limit: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(1, 20, 1000)),
    });
    const operation = fc.record({ request: anyRequest, pause: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), fc.boolean(), async (operations, isCached) => {
        const storage = await openBatchStorage(plants);
        const queue = isCached ? withCache(storage).queue : new ReadQueue(storage, undefined);
        const pages: Promise<JsonPage>[] = [];
        for (const { request: each, pause } of operations) {
          pages.push(queue.readPage(each));
          if (pause) await nextIteration();
        }
        for (const [n, page] of (await Promise.all(pages)).entries()) {
          const { request: each } = operations[n] ?? assert.fail();
          assert.deepEqual(page, toJsonPage(await memory.list(each.user, each)));
        }
        for (const batch of storage.batches) assert.ok(batch.reduce((sum, { limit }) => sum + limit, 0) <= 1000);
      }),
    );
  });

  const orders: Readonly<Record<string, { first: string[]; later?: string[]; batches: string[] }>> = {
    'fills a batch with up to 1000 plants': {
      first: ['ada 600', 'ada 300', 'ada 100', 'ada 1', 'ada 1000'],
      batches: ['ada 600, ada 300, ada 100', 'ada 1', 'ada 1000'],
    },
    'serves users in round-robin order, also those who arrive later': {
      first: ['ada 1000', 'ada 1000', 'ada 1000', 'bob 1000', 'bob 1000'],
      later: ['eve 20'],
      batches: ['ada 1000', 'bob 1000', 'ada 1000', 'eve 20', 'bob 1000', 'ada 1000'],
    },
    'alternates between users within a batch': {
      first: ['ada 300', 'ada 300', 'ada 300', 'bob 300', 'bob 300'],
      batches: ['ada 300, bob 300, ada 300', 'bob 300, ada 300'],
    },
    'does not let short lists delay a long one': {
      first: ['bob 20', 'ada 1000', 'bob 20'],
      batches: ['bob 20', 'ada 1000', 'bob 20'],
    },
  };
  for (const [rule, { first, later = [], batches }] of Object.entries(orders)) {
    it(`${rule}, and reads one batch per event loop iteration`, async () => {
      const { storage, queue } = await openQueue({});
      const parse = (texts: string[]): PageRequest[] =>
        texts.map((text) => request(text.slice(0, 3), Number(text.slice(4))));
      const pages = readAll(queue, parse(first));
      for (let iteration = 1; iteration <= batches.length; iteration++) {
        await nextIteration();
        assert.ok(storage.batches.length <= iteration, `${storage.batches.length} batches in ${iteration} iterations`);
        if (iteration === 1) pages.push(...readAll(queue, parse(later)));
      }
      await Promise.all(pages);
      assert.deepEqual(batchesOf(storage), batches);
    });
  }

  it('reads at most four batches concurrently', async () => {
    const { storage, queue } = await openQueue({});
    const release = hold(storage);
    const all = Promise.all(readAll(queue, Array<PageRequest>(10).fill(request('ada', 1000))));
    for (let read = 0; read < 10; read++) {
      for (let iteration = 0; iteration < 6; iteration++) await turn();
      assert.equal(storage.running, Math.min(4, 10 - read));
      release();
    }
    await all;
  });

  it('reads the first page of an iteration at once if the last iteration with requests had only one', async () => {
    const { storage, queue } = await openQueue({});
    const readTogether = async (count: number): Promise<number> => {
      const before = storage.batches.length;
      const pages = Promise.all(readAll(queue, Array<PageRequest>(count).fill(request('ada', 1))));
      const readAtOnce = storage.batches.length - before;
      await pages;
      await turn();
      return readAtOnce;
    };
    const atOnce: number[] = [];
    for (const count of [1, 1, 3, 1, 2]) atOnce.push(await readTogether(count));
    assert.deepEqual(atOnce, [0, 1, 1, 0, 1]);
  });

  it('reads a batch immediately when 64 requests have arrived', async () => {
    const { storage, queue } = await openQueue({});
    const reads = readAll(queue, Array<PageRequest>(63).fill(request('ada', 1)));
    assert.equal(storage.batches.length, 0);
    reads.push(queue.readPage(request('ada', 1)), queue.readPage(request('ada', 1)));
    assert.deepEqual([storage.batches.length, storage.batches[0]?.length], [1, 64]);
    await Promise.all(reads);
    assert.equal(storage.batches[1]?.length, 1);
  });

  it('rejects only the requests of a batch that fails, and continues with other batches', async () => {
    const { storage, queue } = await openQueue({});
    const reason = new PlantStoreError('storage_unavailable');
    storage.afterRead = async ([first]) => {
      if (first?.user === 'ada') throw reason;
    };
    const requests = [request('ada', 500), request('ada', 500), request('bob', 1000)];
    const expected = [
      { status: 'rejected', reason },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: emptyPage },
    ];
    // If failed batches still counted as running, this many failures would block all further reads.
    for (let round = 0; round < 5; round++) {
      assert.deepEqual(await Promise.allSettled(readAll(queue, requests)), expected);
    }
  });

  it('rejects only the request whose list call fails, if the adapter has no listPages', async () => {
    const storage = new MemoryStorage();
    const list = storage.list.bind(storage);
    const reason = new PlantStoreError('storage_unavailable');
    storage.list = (user, range) => (user === 'bob' ? Promise.reject(reason) : list(user, range));
    const reads = readAll(new ReadQueue(storage, undefined), [request('ada', 1), request('bob', 1)]);
    const expected = [
      { status: 'fulfilled', value: emptyPage },
      { status: 'rejected', reason },
    ];
    assert.deepEqual(await Promise.allSettled(reads), expected);
  });

  it('rejects with storage_unavailable if list throws or returns an invalid page', async () => {
    const fern = { id: 1n, name: 'Fern' };
    const invalid = [[fern], undefined, null, {}, { plants: [] }, { plants: [fern] }, { plants: {}, hasMore: false }];
    const results: (() => unknown)[] = [...invalid, { plants: [], hasMore: true }].map((page) => async () => page);
    const throwing = (): never => {
      throw noDisk;
    };
    for (const list of [...results, throwing]) {
      const storage: StorageAdapter = Object.assign(new MemoryStorage(), { list });
      const reads = readAll(withCache(storage).queue, [request('ada', 1), request('bob', 1)]);
      for (const each of await Promise.allSettled<unknown>([...reads, new PlantStore({ storage }).listPlants('ada')])) {
        const { code, cause } = (each as PromiseRejectedResult).reason as PlantStoreError;
        assert.equal(code, 'storage_unavailable');
        assert.ok(list === throwing ? cause === noDisk : cause instanceof TypeError);
      }
    }
  });

  for (const isCached of [false, true]) {
    it(`returns a page that includes all commits before the request, ${isCached ? 'with' : 'without'} a cache`, async () => {
      const storage = await openBatchStorage({ ada: 1 });
      const { queue: cachedQueue, cache } = withCache(storage);
      const queue = isCached ? cachedQueue : new ReadQueue(storage, undefined);
      const release = hold(storage);
      const twice = [request('ada', 5), request('ada', 5)];
      const earlier = readAll(queue, twice);
      await turn();
      await storage.commit([create(7, 'ada', 'new')]);
      cache.forget('ada');
      const later = readAll(queue, twice);
      for (let batch = 0; batch < 4; batch++) {
        await turn();
        release();
      }
      assert.deepEqual((await Promise.all(earlier)).map(namesIn)[0], ['0']);
      for (const page of later) assert.deepEqual(namesIn(await page), ['0', 'new']);
    });
  }
});

describe('ReadQueue with a cache', () => {
  it('returns cached first pages without reading them again, and reads all other pages', async () => {
    const { storage, queue } = await openWithCache({ ada: 30 });
    const cached = await queue.readPage(request('ada', 20));
    const later = await queue.readPage(request('ada', 20, 4n));
    assert.equal(await queue.readPage(request('ada', 20)), cached);
    assert.equal(storage.batches.length, 2);
    assert.notEqual(await queue.readPage(request('ada', 20, 4n)), later);
    await queue.readPage(request('ada', 19));
    assert.deepEqual(batchesOf(storage), ['ada 20', 'ada 20', 'ada 20', 'ada 19']);
  });

  it('returns a cached page in the next iteration, even while long lists are waiting', async () => {
    const { queue } = await openWithCache({ bob: 20 });
    const cached = await queue.readPage(request('bob', 20));
    const users = ['ada', 'eve', 'joe', 'ada', 'eve', 'joe'];
    const long = Promise.all(users.map((user) => queue.readPage(request(user, 1000, -1n))));
    await nextIteration();
    const page = queue.readPage(request('bob', 20));
    await nextIteration();
    assert.equal(await Promise.race([page, Promise.resolve()]), cached);
    await long;
  });

  it('reads a page only once for all requests of an iteration', async () => {
    const { storage, queue } = await openWithCache({ ada: 30, bob: 30 });
    const requests = Array.from({ length: 60 }, (_, n) => request(n % 2 === 0 ? 'ada' : 'bob', n % 3 === 0 ? 10 : 20));
    const pages = await Promise.all(readAll(queue, requests));
    for (const [n, { count }] of pages.entries()) assert.equal(count, requests[n]?.limit);
    assert.equal(storage.batches.length, 1);
    assert.equal(storage.batches[0]?.length, 4);
    assert.equal(new Set(pages).size, 4);
  });

  it('reads a page again for the other requests if the batch of the first request fails', async () => {
    const { storage, queue } = await openWithCache({ ada: 1 });
    storage.afterRead = async () => {
      storage.afterRead = async () => undefined;
      throw noDisk;
    };
    const [first, second] = [queue.readPage(request('ada', 5)), queue.readPage(request('ada', 5))];
    await assert.rejects(first, { code: 'storage_unavailable', cause: noDisk });
    assert.equal((await second).count, 1);
  });

  it('checks the version once, after the last request of an iteration, and then removes stale pages', async () => {
    const { storage, queue, version } = await openWithCache({ ada: 1, bob: 1 });
    const requests = [request('ada', 5), request('bob', 5)];
    await Promise.all(readAll(queue, requests));
    const early = readAll(queue, requests);
    // In the same iteration, before the last request, another process commits and acknowledges a plant.
    await storage.commit([create(7, 'ada', 'new')]);
    let checks = 0;
    version.read = () => {
      checks++;
      return 1;
    };
    const pages = await Promise.all([...early, queue.readPage(request('ada', 5))]);
    assert.deepEqual(pages.map(namesIn), [['0', 'new'], ['0'], ['0', 'new']]);
    assert.ok(checks <= 2, `${checks} checks`);
  });

  it('rejects the waiting requests if the version cannot be read, and continues', async () => {
    const { storage, queue, version } = await openWithCache({ ada: 1 });
    const long = request('ada', 1000, -1n);
    const [read, ...waiting] = readAll(queue, [long, long]);
    await nextIteration();
    version.read = () => {
      throw noDisk;
    };
    waiting.push(...readAll(queue, [request('ada', 5), request('bob', 5)]));
    for (const outcome of await Promise.allSettled(waiting)) {
      assert.equal(outcome.status === 'rejected' && (outcome.reason as Error).cause, noDisk);
    }
    version.read = () => 0;
    assert.deepEqual([(await read)?.count, (await queue.readPage(request('ada', 5))).count], [1, 1]);
    await turn();
    assert.equal(storage.batches.length, 2);
  });

  it('does not cache a page if plants may have changed while it was being read', async () => {
    const { storage, queue, cache, version } = await openWithCache({ ada: 1 });
    const release = hold(storage);
    for (const isWrite of [true, false]) {
      const page = queue.readPage(request('ada', 5));
      await turn();
      if (isWrite) cache.forget('ada');
      else version.read = () => 1;
      cache.checkVersion();
      release();
      await page;
      assert.equal(cache.get(request('ada', 5)), undefined);
    }
  });
});
