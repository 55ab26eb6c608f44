import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { PlantStore } from '../../src/index.ts';
import type { JsonPage } from '../../src/index.ts';
import { toJsonPage } from '../../src/core/page.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { rowOfPlants } from '../support/stored-plants.ts';
import { create, createEach } from '../support/writes.ts';

const plantsOf = { ada: 1200, bob: 40, eve: 3 };
const uncached = { maxCacheBytes: 0 };
const noDisk = new Error('no disk');
const unavailable = { code: 'storage_unavailable', cause: noDisk };

/** `reads` contains the lists that are read. */
async function open(options: { maxCacheBytes?: number } = {}) {
  const storage = new HookedStorage();
  const reads: string[] = [];
  storage.beforeList = (user, { limit }) => reads.push(`${user} ${limit}`);
  for (const [user, count] of Object.entries(plantsOf)) await storage.commit(createEach(rowOfPlants(user, count)));
  return { storage, reads, store: new PlantStore({ storage, ...options }) };
}

describe('concurrent lists', () => {
  it('return the requested pages, cached or not', async () => {
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
          if (pause) await nextTurn();
        }
        const expected = all.map(async ({ user, ...range }) => toJsonPage(await storage.list(user, range)));
        assert.deepEqual(await Promise.all(pages), await Promise.all(expected));
      }),
    );
  });

  it('are read at once for a client that is alone', async () => {
    const { reads, store } = await open(uncached);
    for (let n = 1; n <= 3; n++) {
      const page = store.listPageJson('eve');
      // The first request is not known to be alone.
      if (n > 1) assert.equal(reads.length, n);
      await page;
      await nextTurn();
    }
  });

  it('of the same page share a read if they are requested in the same turn', async () => {
    const { reads, store } = await open(uncached);
    const lists = ['ada', 'ada', 'bob', 'ada', 'bob'].map((user) => store.listPageJson(user, { limit: 20 }));
    assert.deepEqual(
      (await Promise.all(lists)).map(({ count }) => count),
      [20, 20, 20, 20, 20],
    );
    assert.deepEqual(reads, ['ada 20', 'bob 20']);
  });

  it('of one user do not delay the list of another user by more than a turn', async () => {
    const { store } = await open(uncached);
    const settled: string[] = [];
    const list = async (user: string, after: number, limit: number): Promise<void> => {
      await store.listPageJson(user, { after, limit });
      settled.push(user);
    };
    const flood = Array.from({ length: 200 }, (_, after) => list('ada', after, 1000));
    await nextTurn();
    await list('bob', 0, 20);
    assert.ok(settled.indexOf('bob') <= 3, `after ${settled.indexOf('bob')} lists of the other user`);
    await Promise.all(flood);
  });

  it('of one user do not occupy a slow storage', async () => {
    const { storage, reads, store } = await open(uncached);
    const held = new Hold();
    storage.afterList = held.hook;
    const flood = Array.from({ length: 200 }, (_, after) => store.listPageJson('ada', { after, limit: 1000 }));
    const other = store.listPageJson('bob', { limit: 20 });
    for (let n = 0; n < 10; n++) await nextTurn();
    assert.deepEqual(reads, ['ada 1000', 'bob 20']);
    held.release();
    assert.equal((await other).count, 20);
    await Promise.all(flood);
  });

  it('of many users let the event loop continue', async () => {
    const { reads, store } = await open(uncached);
    const lists = Array.from({ length: 10 }, (_, n) => store.listPageJson(`user ${n}`, { limit: 1000 }));
    await nextTurn();
    assert.ok(reads.length < 10, `${reads.length} lists in one turn`);
    await Promise.all(lists);
  });

  it('are rejected only if their own read fails', async () => {
    const { storage, store } = await open(uncached);
    storage.beforeList = (user) => {
      if (user === 'ada') throw noDisk;
    };
    const failing = [10, 10, 20].map((limit) => assert.rejects(store.listPageJson('ada', { limit }), unavailable));
    assert.equal((await store.listPageJson('bob')).count, plantsOf.bob);
    await Promise.all(failing);
    storage.beforeList = () => undefined;
    assert.equal((await store.listPageJson('ada')).count, 1000);
  });

  it('include every write that was acknowledged before the request', async () => {
    const { storage, store } = await open(uncached);
    const held = new Hold();
    storage.afterList = held.hook;
    const earlier = store.listPageJson('eve');
    await nextTurn();
    await store.createPlant('eve', { id: 7, name: 'new' });
    const later = [store.listPageJson('eve'), store.listPageJson('eve', { limit: 10 })];
    await nextTurn();
    held.release();
    assert.equal((await earlier).count, plantsOf.eve);
    for (const page of later) assert.equal((await page).count, plantsOf.eve + 1);
  });
});

describe('concurrent lists with a cache', () => {
  it('are read for each request if maxCacheBytes is 0 or the adapter has no dataVersion', async () => {
    const { storage, reads, store } = await open(uncached);
    const unversioned = new PlantStore({ storage: Object.assign(storage, { dataVersion: undefined }) });
    for (const each of [store, unversioned]) {
      reads.length = 0;
      for (let n = 0; n < 2; n++) await each.listPageJson('eve');
      assert.equal(reads.length, 2);
    }
  });

  it('notice a commit by another process in the same turn', async () => {
    const { storage, store } = await open();
    const list = (): Promise<JsonPage[]> => Promise.all(['eve', 'bob'].map((user) => store.listPageJson(user)));
    await list();
    const listed = list();
    await storage.commit([create(7, 'eve')]);
    storage.version++;
    for (const [page] of [await listed, await list()]) assert.equal(page?.count, 4);
  });

  for (const who of ['the store', 'another process']) {
    it(`do not cache a page if ${who} commits while the page is read`, async () => {
      const { storage, store } = await open();
      const held = new Hold();
      storage.afterList = held.hook;
      const first = store.listPageJson('eve');
      await nextTurn();
      if (who === 'the store') await store.createPlant('eve', { id: 7, name: '' });
      else storage.version += (await storage.commit([create(7, 'eve')])).length;
      // This list makes the store notice the commit of the other process during the read.
      const other = store.listPageJson('bob');
      await nextTurn();
      held.release();
      await Promise.all([first, other]);
      assert.equal((await store.listPageJson('eve')).count, plantsOf.eve + 1);
    });
  }

  it('are rejected while the version cannot be read, and continue afterward', async () => {
    const { storage, store } = await open();
    storage.version = NaN;
    const rejected = { code: 'storage_unavailable' };
    await Promise.all(['ada', 'bob'].map((user) => assert.rejects(store.listPageJson(user), rejected)));
    storage.version = 0;
    assert.equal((await store.listPageJson('ada')).count, 1000);
  });
});
