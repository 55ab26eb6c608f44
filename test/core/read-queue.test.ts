import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { JsonPage, PlantPage } from '../../src/index.ts';
import { emptyPage, toJsonPage } from '../../src/storage/page.ts';
import { ReadQueue } from '../../src/core/read-queue.ts';
import { hold, openBatchStorage, openQueue, request, withCache } from '../support/batch-storage.ts';
import type { BatchStorage } from '../support/batch-storage.ts';
import { turn } from '../support/commits.ts';
import { create } from '../support/writes.ts';

/** Returns the users or the limits of the requests in each batch. */
const usersIn = ({ batches }: BatchStorage): string[][] => batches.map((batch) => batch.map(({ user }) => user));
const limitsIn = ({ batches }: BatchStorage): number[][] => batches.map((batch) => batch.map(({ limit }) => limit));
const sizesIn = ({ batches }: BatchStorage): number[] => batches.map(({ length }) => length);

describe('ReadQueue', () => {
  it('reads the pages that are requested in one event loop iteration as one batch', async () => {
    const { storage, queue } = await openQueue({ ada: 30, bob: 5 });
    const requests = [request('ada', 20), request('bob', 5), request('eve', 3), request('ada', 20, 9n)];
    const pages = await Promise.all(requests.map((each) => queue.readPage(each)));
    assert.equal(storage.batches.length, 1);
    assert.deepEqual(
      pages.map(({ count, last, hasMore }) => [count, last, hasMore]),
      [
        [20, 19n, true],
        [5, 4n, false],
        [0, undefined, false],
        [20, 29n, false],
      ],
    );
  });

  it('returns the right page for any requests, in batches of at most 1000 plants', async () => {
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
          if (pause) await new Promise(setImmediate);
        }
        for (const [n, page] of (await Promise.all(pages)).entries()) {
          const { request: each } = operations[n] ?? assert.fail();
          assert.deepEqual(page, toJsonPage(await memory.list(each.user, each)));
        }
        for (const limits of limitsIn(storage)) assert.ok(limits.reduce((sum, limit) => sum + limit, 0) <= 1000);
      }),
    );
  });

  it('fills a batch with up to 1000 plants, and reads the rest in a later iteration', async () => {
    const { storage, queue } = await openQueue({ ada: 1000 });
    const limits = [600, 300, 200, 100, 1000];
    const pages = await Promise.all(limits.map((limit) => queue.readPage(request('ada', limit))));
    assert.deepEqual(
      pages.map(({ count }) => count),
      limits,
    );
    assert.deepEqual(limitsIn(storage), [[600, 300], [200, 100], [1000]]);
  });

  it('serves users in round-robin order', async () => {
    const { storage, queue } = await openQueue({ ada: 1000, bob: 1000, eve: 20 });
    const users = ['ada', 'ada', 'ada', 'bob', 'bob'];
    const long = Promise.all(users.map((user) => queue.readPage(request(user, 1000))));
    await Promise.all([long, queue.readPage(request('eve', 20))]);
    assert.deepEqual(usersIn(storage), [['ada'], ['bob'], ['eve'], ['ada'], ['bob'], ['ada']]);
  });

  it('alternates between users within a batch', async () => {
    const { storage, queue } = await openQueue({ ada: 100, bob: 100 });
    const users = [...Array<string>(9).fill('ada'), 'bob', 'bob'];
    await Promise.all(users.map((user) => queue.readPage(request(user, 200))));
    assert.deepEqual(usersIn(storage), [['ada', 'bob', 'ada', 'bob', 'ada'], Array(5).fill('ada'), ['ada']]);
  });

  it('serves a user who arrives later before a user who has been served', async () => {
    const { storage, queue } = await openQueue({ ada: 1000, bob: 1000 });
    const adas = Promise.all([1, 2, 3].map(() => queue.readPage(request('ada', 1000))));
    await new Promise(setImmediate);
    await Promise.all([adas, queue.readPage(request('bob', 1000))]);
    assert.deepEqual(usersIn(storage), [['ada'], ['ada'], ['bob'], ['ada']]);
  });

  it('does not let short lists delay a long one', async () => {
    const { queue } = await openQueue({ ada: 1000, bob: 20 });
    const short: Promise<JsonPage>[] = [];
    const addShort = (): void => {
      for (let n = 0; n < 30; n++) short.push(queue.readPage(request('bob', 20)));
    };
    addShort();
    let isRead = false;
    const long = queue.readPage(request('ada', 1000)).then(() => {
      isRead = true;
    });
    for (let iteration = 0; iteration < 2; iteration++) {
      assert.equal(isRead, false);
      await new Promise(setImmediate);
      addShort();
    }
    assert.equal(isRead, true);
    await Promise.all([long, ...short]);
  });

  it('looks at a waiting request only a few times, however many requests wait', async () => {
    const queue = new ReadQueue(await openBatchStorage({}), undefined);
    let looks = 0;
    const requests = Array.from({ length: 2000 }, (_, n) => ({
      user: `user ${n}`,
      after: undefined,
      get limit() {
        looks++;
        return 1000;
      },
    }));
    await Promise.all(requests.map((each) => queue.readPage(each)));
    assert.ok(looks <= 10 * requests.length, `${looks} times`);
  });

  it('reads one batch per event loop iteration', async () => {
    const { storage, queue } = await openQueue({ ada: 1000 });
    const all = Promise.all(Array.from({ length: 10 }, () => queue.readPage(request('ada', 1000))));
    for (let iteration = 1; iteration <= 10; iteration++) {
      await new Promise(setImmediate);
      assert.ok(storage.batches.length <= iteration, `${storage.batches.length} batches in ${iteration} iterations`);
    }
    await all;
  });

  it('reads four batches concurrently, and the next one when one of them has been read', async () => {
    const storage = await openBatchStorage({ ada: 1000 });
    const release = hold(storage);
    const queue = new ReadQueue(storage, undefined);
    const all = Promise.all(Array.from({ length: 10 }, () => queue.readPage(request('ada', 1000))));
    for (let read = 0; read < 10; read++) {
      for (let iteration = 0; iteration < 6; iteration++) await turn();
      assert.equal(storage.running, Math.min(4, 10 - read));
      release();
    }
    assert.equal((await all).length, 10);
  });

  it('reads a batch immediately when 64 requests have arrived', async () => {
    const { storage, queue } = await openQueue({ ada: 2 });
    const reads = Array.from({ length: 63 }, () => queue.readPage(request('ada', 1)));
    assert.equal(storage.batches.length, 0);
    reads.push(queue.readPage(request('ada', 1)), queue.readPage(request('ada', 1)));
    assert.deepEqual(sizesIn(storage), [64]);
    await Promise.all(reads);
    assert.deepEqual(sizesIn(storage), [64, 1]);
  });

  it('rejects only the requests of a batch that fails, and continues', async () => {
    const { storage, queue } = await openQueue({ ada: 1000, bob: 1000 });
    const error = new PlantStoreError('storage_unavailable');
    storage.afterRead = async ([first]) => {
      if (first?.user === 'ada') throw error;
    };
    const requests = [request('ada', 500), request('ada', 500), request('bob', 1000)];
    // Enough failures that no batch could be read if those that fail counted as running.
    for (let round = 0; round < 5; round++) {
      const [first, second, third] = await Promise.allSettled(requests.map((each) => queue.readPage(each)));
      assert.equal(third?.status, 'fulfilled');
      for (const outcome of [first, second]) assert.deepEqual(outcome, { status: 'rejected', reason: error });
    }
  });

  it('rejects the requests of a batch if listPages throws or returns invalid pages', async () => {
    const full: JsonPage = { json: '[{"name":""}]', count: 1, last: 1n, hasMore: false };
    const endless: JsonPage = { json: '[]', count: 0, last: undefined, hasMore: true };
    const message =
      'listPages of the storage adapter must return { json, count, last, hasMore } for each request, ' +
      'with a plant if hasMore is true';
    const invalid = [[full], [full, full, full], [full, endless], [full, undefined], ['[]', '[]'], undefined];
    for (const pages of invalid) {
      const storage = Object.assign(new MemoryStorage(), { listPages: () => Promise.resolve(pages as JsonPage[]) });
      const { queue } = withCache(storage);
      const reads = [request('ada', 1), request('bob', 1)].map((each) => queue.readPage(each));
      for (const read of reads) {
        await assert.rejects(read, { code: 'storage_unavailable', cause: new TypeError(message) });
      }
    }
    const throwing = Object.assign(new MemoryStorage(), {
      listPages: () => {
        throw new Error('not a promise');
      },
    });
    const read = new ReadQueue(throwing, undefined).readPage(request('ada', 1));
    await assert.rejects(read, { code: 'storage_unavailable', cause: new Error('not a promise') });
  });
});

describe('ReadQueue over an adapter without listPages', () => {
  it('reads each page with list', async () => {
    const storage = new MemoryStorage();
    await storage.commit([create(1, 'ada', 'Fern'), create(2, 'ada', 'Moss'), create(1, 'bob', 'Ivy')]);
    const queue = new ReadQueue(storage, undefined);
    const requests = [request('ada', 1), request('bob', 2), request('ada', 9, 1n)];
    assert.deepEqual(await Promise.all(requests.map((each) => queue.readPage(each))), [
      { json: '[{"name":"Fern"}]', count: 1, last: 1n, hasMore: true },
      { json: '[{"name":"Ivy"}]', count: 1, last: 1n, hasMore: false },
      { json: '[{"name":"Moss"}]', count: 1, last: 2n, hasMore: false },
    ]);
  });

  it('rejects only the request whose list fails', async () => {
    const storage = new MemoryStorage();
    const list = storage.list.bind(storage);
    const error = new PlantStoreError('storage_unavailable');
    storage.list = (user, range) => (user === 'bob' ? Promise.reject(error) : list(user, range));
    const queue = new ReadQueue(storage, undefined);
    const reads = ['ada', 'bob'].map((user) => queue.readPage(request(user, 1)));
    assert.deepEqual(await Promise.allSettled(reads), [
      { status: 'fulfilled', value: emptyPage },
      { status: 'rejected', reason: error },
    ]);
  });

  it('rejects with a TypeError if list returns an array or another invalid page', async () => {
    const message = 'list of the storage adapter must return { plants, hasMore }, with a plant if hasMore is true';
    const invalid = [
      [{ id: 1n, name: 'Fern' }],
      ...[undefined, null, 'plants', {}],
      { plants: [] },
      { plants: {}, hasMore: false },
      { plants: [], hasMore: true },
    ];
    for (const page of invalid) {
      const storage = Object.assign(new MemoryStorage(), { list: () => Promise.resolve(page as PlantPage) });
      const queue = new ReadQueue(storage, undefined);
      const expected = { code: 'storage_unavailable', cause: new TypeError(message) };
      await assert.rejects(queue.readPage(request('ada', 1)), expected);
      await assert.rejects(new PlantStore({ storage }).listPlants('ada'), expected);
    }
  });
});
