import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { JsonPage, PageRequest } from '../../src/core/page.ts';
import { listAsJson, maxPageLength, toJsonPage } from '../../src/core/page.ts';
import { rowOfPlants } from '../support/stored-plants.ts';
import { create, createEach } from '../support/writes.ts';

/** A storage that reads several pages in a batch, like SqliteStorage and PostgresStorage. */
class BatchStorage extends MemoryStorage {
  readonly batches: PageRequest[][] = [];
  /** NaN makes `dataVersion` throw an error. */
  version = 0;
  /** Called after a batch has been read, before its pages are returned. */
  afterRead: (requests: readonly PageRequest[]) => Promise<void> = async () => undefined;

  async [listAsJson](requests: readonly PageRequest[]): Promise<JsonPage[]> {
    this.batches.push([...requests]);
    const pages = requests.map(async ({ user, ...range }) => toJsonPage(await this.list(user, range)));
    const read = await Promise.all(pages);
    await this.afterRead(requests);
    return read;
  }

  override dataVersion(): number {
    if (Number.isNaN(this.version)) throw noDisk;
    return this.version;
  }

  /** Delays every batch. The returned function lets the batch continue that has waited longest. */
  hold(): () => void {
    const waiting: (() => void)[] = [];
    this.afterRead = () => new Promise((resolve) => waiting.push(resolve));
    return () => waiting.shift()?.();
  }
}

const plantsOf = { ada: 1200, bob: 40, eve: 3 };

async function open(options: { maxCacheBytes?: number } = {}): Promise<{ storage: BatchStorage; store: PlantStore }> {
  const storage = new BatchStorage();
  for (const [user, count] of Object.entries(plantsOf)) await storage.commit(createEach(rowOfPlants(user, count)));
  return { storage, store: new PlantStore({ storage, ...options }) };
}

const uncached = { maxCacheBytes: 0 };
const noDisk = new Error('no disk');
const unavailable = { code: 'storage_unavailable', cause: noDisk };
const iteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// SqliteStorage reads a batch in the event loop, and PostgresStorage on a connection of its pool. Batches that are too
// large or too many delay all other clients. With 64 clients, lists that are read alone cost 2.3 times the CPU time.
describe('concurrent lists', () => {
  it('return the requested pages, cached or not, in batches of at most 1000 plants', async () => {
    const request = fc.record({
      user: fc.constantFrom('ada', 'bob', 'eve', 'joe'),
      after: fc.option(fc.bigInt({ min: -1n, max: 1300n }), { nil: undefined }),
      limit: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(1, 20, 1000)),
      pause: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 100 }), fc.constantFrom({}, uncached), async (all, options) => {
        const { storage, store } = await open(options);
        const pages: Promise<JsonPage>[] = [];
        for (const { user, after, limit, pause } of all) {
          pages.push(store.listPageJson(user, { after, limit }));
          if (pause) await iteration();
        }
        const expected = all.map(async ({ user, ...range }) => toJsonPage(await storage.list(user, range)));
        assert.deepEqual(await Promise.all(pages), await Promise.all(expected));
        for (const batch of storage.batches) {
          assert.ok(batch.length > 0 && batch.reduce((sum, { limit }) => sum + limit, 0) <= maxPageLength);
        }
      }),
    );
  });

  it('are read at once for a client that is alone, and together for clients that are not', async () => {
    const { storage, store } = await open();
    const list = (): Promise<JsonPage> => store.listPageJson('ada', { after: 0, limit: 1 });
    for (let n = 0; n < 3; n++) {
      const page = list();
      if (n > 0) assert.equal(storage.batches.length, n + 1);
      await page;
      await iteration();
    }
    for (let n = 0; n < 3; n++) await Promise.all(Array.from({ length: 50 }, list));
    assert.ok(storage.batches.length <= 3 + 4, `${storage.batches.length} batches`);
  });

  it('of users with many long lists do not delay other users, or other callbacks of the event loop', async () => {
    const { storage, store } = await open(uncached);
    const requests = ['ada 1000', 'ada 1000', 'ada 1000', 'bob 1000', 'bob 1000', 'eve 20'];
    const settled: string[] = [];
    const pages = requests.map(async (request) => {
      const [user = '', limit] = request.split(' ');
      await store.listPageJson(user, { limit: Number(limit) });
      settled.push(request);
    });
    for (let iterations = 1; iterations <= requests.length; iterations++) {
      await iteration();
      assert.ok(storage.batches.length <= iterations);
    }
    await Promise.all(pages);
    assert.deepEqual(settled, ['ada 1000', 'bob 1000', 'eve 20', 'ada 1000', 'bob 1000', 'ada 1000']);
  });

  it('are read in at most four batches at a time, and all settle without another request', async () => {
    const { storage, store } = await open(uncached);
    const release = storage.hold();
    const lists = Array.from({ length: 6 }, () => store.listPageJson('ada', { limit: 1000 }));
    for (let n = 0; n < 10; n++) await iteration();
    assert.equal(storage.batches.length, 4);
    for (let n = 0; n < 10; n++) {
      release();
      await iteration();
    }
    assert.ok((await Promise.all(lists)).every(({ count }) => count === 1000));
  });

  it('are rejected only if their batch fails, however many batches have failed before', async () => {
    const { storage, store } = await open(uncached);
    storage.afterRead = async ([first]) => {
      if (first?.user === 'ada') throw noDisk;
    };
    for (let round = 0; round < 5; round++) {
      const failing = [500, 500].map((limit) => assert.rejects(store.listPageJson('ada', { limit }), unavailable));
      assert.equal((await store.listPageJson('bob', { limit: 1000 })).count, plantsOf.bob);
      await Promise.all(failing);
    }
  });

  for (const options of [{}, uncached]) {
    it(`include every write that was acknowledged before the request, with ${JSON.stringify(options)}`, async () => {
      const { storage, store } = await open(options);
      const release = storage.hold();
      const list = (): Promise<JsonPage>[] => [1, 2].map(() => store.listPageJson('eve'));
      const earlier = list();
      await iteration();
      await store.createPlant('eve', { id: 7, name: 'new' });
      const later = list();
      const releasing = setInterval(release);
      assert.equal((await earlier[0])?.count, plantsOf.eve);
      for (const page of later) assert.equal((await page).count, plantsOf.eve + 1);
      clearInterval(releasing);
    });
  }
});

describe('concurrent lists with a cache', () => {
  it('read every page for each request if maxCacheBytes is 0 or the adapter has no dataVersion', async () => {
    const { storage, store } = await open(uncached);
    const unversioned = new PlantStore({ storage: Object.assign(storage, { dataVersion: undefined }) });
    for (const each of [store, unversioned]) {
      storage.batches.length = 0;
      await Promise.all([each.listPageJson('eve'), each.listPageJson('eve')]);
      assert.equal(storage.batches.flat().length, 2);
    }
  });

  it('read a page again for the other requests if the batch of the first request fails', async () => {
    const { storage, store } = await open();
    storage.afterRead = async () => {
      storage.afterRead = async () => undefined;
      throw noDisk;
    };
    const list = (): Promise<JsonPage> => store.listPageJson('eve', { limit: 10 });
    const [first, second] = [list(), list()];
    await assert.rejects(first, unavailable);
    assert.equal((await second).count, plantsOf.eve);
  });

  it('notice a commit by another process in the same iteration', async () => {
    const { storage, store } = await open();
    const list = (): Promise<number[]> =>
      Promise.all(['eve', 'bob'].map(async (user) => (await store.listPageJson(user, { limit: 50 })).count));
    assert.deepEqual(await list(), [3, 40]);
    const pages = list();
    await storage.commit([create(7, 'eve')]);
    storage.version++;
    assert.deepEqual(
      [await pages, await list()],
      [
        [4, 40],
        [4, 40],
      ],
    );
  });

  for (const isOwn of [true, false]) {
    it(`do not cache a page if ${isOwn ? 'the store' : 'another process'} commits while the page is read`, async () => {
      const { storage, store } = await open();
      const release = storage.hold();
      const pages = [store.listPageJson('eve')];
      await iteration();
      if (isOwn) await store.createPlant('eve', { id: 7, name: '' });
      else await storage.commit([create(7, 'eve')]);
      if (!isOwn) storage.version++;
      pages.push(store.listPageJson('bob'));
      await iteration();
      for (let n = 0; n < 2; n++) release();
      await Promise.all(pages);
      storage.afterRead = async () => undefined;
      assert.equal((await store.listPageJson('eve')).count, plantsOf.eve + 1);
    });
  }

  it('are rejected while the version cannot be read, and continue afterward', async () => {
    const { storage, store } = await open();
    const long = { after: -1, limit: 1000 };
    const read = store.listPageJson('ada', long);
    const waiting = [store.listPageJson('ada', long)];
    await iteration();
    storage.version = NaN;
    waiting.push(store.listPageJson('ada'), store.listPageJson('bob'));
    for (const page of waiting) await assert.rejects(page, unavailable);
    storage.version = 0;
    assert.deepEqual([(await read).count, (await store.listPageJson('eve')).count], [1000, plantsOf.eve]);
  });
});
