import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import fc from 'fast-check';
import { PlantStore } from '../../src/index.ts';
import type { JsonPage } from '../../src/index.ts';
import { toJsonPage } from '../../src/core/page.ts';
import { create, createEach } from '../../src/testing/plants.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { rowOfPlants } from '../support/stored-plants.ts';

const plantsOf = { ada: 1200, bob: 40, eve: 3 };

/** Opens a store with plants. `reads` contains the lists that are read from the storage. */
async function open(options: { maxCacheBytes?: number } = {}) {
  const storage = new HookedStorage();
  const reads: string[] = [];
  storage.beforeList = (user, { limit }) => reads.push(`${user} ${limit}`);
  for (const [user, count] of Object.entries(plantsOf)) await storage.commit(createEach(rowOfPlants(user, count)));
  const store = new PlantStore({ storage, ...options });
  const count = async (user: string): Promise<number> => (await store.listPageJson(user)).count;
  return { storage, reads, store, count };
}

const uncached = { maxCacheBytes: 0 };

it('page reader › concurrent lists return the requested pages, cached or not', async () => {
  const request = fc.record({
    user: fc.constantFrom('ada', 'bob', 'eve', 'joe'),
    after: fc.option(fc.bigInt({ min: -1n, max: 1300n }), { nil: undefined }),
    limit: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(1, 20, 1000)),
    pause: fc.boolean(),
  });
  const requests = fc.array(request, { maxLength: 100 });
  const property = fc.asyncProperty(requests, fc.constantFrom({}, uncached), async (all, options) => {
    const { storage, store } = await open(options);
    const pages: Promise<JsonPage>[] = [];
    for (const { user, after, limit, pause } of all) {
      pages.push(store.listPageJson(user, { after, limit }));
      if (pause) await nextIteration();
    }
    const expected = all.map(async ({ user, ...range }) => toJsonPage(await storage.list(user, range)));
    assert.deepEqual(await Promise.all(pages), await Promise.all(expected));
  });
  await fc.assert(property);
});

it('page reader › reads a list at once if the client is alone', async () => {
  const { reads, count } = await open(uncached);
  for (let n = 1; n <= 3; n++) {
    const listed = count('eve');
    // The first request waits, because the reader does not know yet whether others follow.
    if (n > 1) assert.equal(reads.length, n);
    await listed;
    await nextIteration();
  }
});

it('page reader › many concurrent lists of the same page share one read, which starts immediately', async () => {
  const { reads, store } = await open(uncached);
  const users = Array.from({ length: 100 }, (_, n) => (n % 3 === 0 ? 'bob' : 'ada'));
  const lists = users.map((user) => store.listPageJson(user, { limit: 20 }));
  assert.deepEqual(reads, ['bob 20', 'ada 20']);
  for (const { count } of await Promise.all(lists)) assert.equal(count, 20);
});

it('page reader › lists of one user delay the list of another user by at most three lists', async () => {
  const { store } = await open(uncached);
  const settled: string[] = [];
  const list = async (user: string, after: number, limit: number): Promise<void> => {
    await store.listPageJson(user, { after, limit });
    settled.push(user);
  };
  const flood = Array.from({ length: 200 }, (_, after) => list('ada', after, 1000));
  await nextIteration();
  await list('bob', 0, 20);
  assert.ok(settled.indexOf('bob') <= 3, `after ${settled.indexOf('bob')} lists of the other user`);
  await Promise.all(flood);
});

it('page reader › reads one long page per user at a time if the storage is slow', async () => {
  const { storage, reads, store } = await open(uncached);
  const held = new Hold();
  storage.afterList = held.hook;
  const flood = Array.from({ length: 200 }, (_, after) => store.listPageJson('ada', { after, limit: 1000 }));
  const other = store.listPageJson('bob', { limit: 20 });
  for (let n = 0; n < 10; n++) await nextIteration();
  assert.deepEqual(reads, ['ada 1000', 'bob 20']);
  held.release();
  await Promise.all([...flood, other]);
});

it('page reader › lists of many users do not block the event loop', async () => {
  const { reads, store } = await open(uncached);
  const lists = Array.from({ length: 10 }, (_, n) => store.listPageJson(`user ${n}`, { limit: 1000 }));
  await nextIteration();
  assert.ok(reads.length < 10, `${reads.length} lists in one turn`);
  await Promise.all(lists);
});

it('page reader › a list is rejected only if its own read fails or dataVersion throws an error', async () => {
  const { storage, store, count } = await open();
  storage.beforeList = (user) => {
    if (user === 'ada') throw new Error('no disk');
  };
  const rejected = { code: 'storage_unavailable' };
  const failing = [10, 10, 20].map((limit) => assert.rejects(store.listPageJson('ada', { limit }), rejected));
  assert.equal(await count('bob'), plantsOf.bob);
  await Promise.all(failing);
  storage.beforeList = () => undefined;
  storage.version = NaN;
  await Promise.all(['ada', 'bob'].map((user) => assert.rejects(count(user), rejected)));
  storage.version = 0;
  assert.equal(await count('ada'), 1000);
});

it('page reader › a list includes every write that was acknowledged before the request', async () => {
  const { storage, store, count } = await open(uncached);
  const held = new Hold();
  storage.afterList = held.hook;
  const earlier = count('eve');
  await nextIteration();
  await store.createPlant('eve', { id: 7, name: 'new' });
  const later = [count('eve'), count('eve')];
  await nextIteration();
  held.release();
  assert.deepEqual(await Promise.all([earlier, ...later]), [3, 4, 4]);
});

it('page reader › no list is cached if maxCacheBytes is 0 or the adapter has no dataVersion', async () => {
  const { storage, reads, store } = await open(uncached);
  const unversioned = new PlantStore({ storage: Object.assign(storage, { dataVersion: undefined }) });
  for (const each of [store, unversioned]) {
    reads.length = 0;
    for (let n = 0; n < 2; n++) await each.listPageJson('eve');
    assert.equal(reads.length, 2);
  }
});

it('page reader › cached lists include the latest commits of the store and of other processes', async () => {
  const { storage, store, count } = await open();
  const users = ['eve', 'bob'];
  const list = () => Promise.all(users.map(count));
  assert.deepEqual(await list(), [3, 40]);
  await Promise.all(users.map((user) => store.createPlant(user, { id: 1000, name: '' })));
  assert.deepEqual(await list(), [4, 41]);
  const listed = list();
  await storage.commit([create(7, 'eve')]);
  storage.version++;
  assert.deepEqual(await listed, [5, 41]);
  assert.deepEqual(await list(), [5, 41]);
});

it('page reader › a page is not cached if the store or another process commits while it is read', async () => {
  for (const isOwn of [true, false]) {
    const { storage, store, count } = await open();
    const held = new Hold();
    storage.afterList = held.hook;
    const first = count('eve');
    await nextIteration();
    if (isOwn) await store.createPlant('eve', { id: 7, name: '' });
    else storage.version += (await storage.commit([create(7, 'eve')])).length;
    // This list makes the store notice the commit of the other process during the read.
    const other = count('bob');
    await nextIteration();
    held.release();
    await Promise.all([first, other]);
    assert.equal(await count('eve'), 4);
  }
});

it('page reader › the cache evicts its oldest pages if they exceed maxCacheBytes', async () => {
  const nameLength = 100_000;
  // Three pages fit, because each character counts as two bytes.
  const { storage, reads, store } = await open({ maxCacheBytes: 7 * nameLength });
  const users = ['A', 'B', 'C', 'D'];
  await storage.commit(users.map((user) => create(1, user, 'x'.repeat(nameLength))));
  /** Lists the first pages of these users. Returns the users whose pages were not cached. */
  const missesOf = async (names: string): Promise<string> => {
    reads.length = 0;
    for (const user of names) await store.listPageJson(user, { limit: 1 });
    return reads.map((read) => read.split(' ')[0]).join('');
  };
  assert.equal(await missesOf('ABCABCDBCDA'), 'ABCDA');
  // The space of pages that were removed after a write or a commit of another process is used again.
  for (let n = 0; n < 10; n++) {
    if (n < 5) storage.version++;
    else await store.deletePlant('A', 2);
    assert.equal(await missesOf('AA'), 'A');
  }
  assert.equal(await missesOf('BCABC'), 'BC');
  // Users without plants also need memory.
  for (let n = 0; n < 2000; n++) await store.listPageJson(`user ${n}`);
  assert.equal(await missesOf('A'), 'A');
});

it("page reader › lists of a user with many limits do not evict another user's page", async () => {
  const { reads, store } = await open({ maxCacheBytes: 20_000 });
  await store.listPageJson('eve');
  for (let limit = 1; limit <= 1000; limit++) await store.listPageJson('bob', { limit });
  assert.equal(reads.length, 1001);
  await store.listPageJson('eve');
  assert.equal(reads.length, 1001);
});
