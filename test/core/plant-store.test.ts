import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { it } from 'node:test';
import { errorTable, MemoryStorage, PlantStore } from '../../src/index.ts';
import type { ListRange, PlantStoreError, StorageAdapter } from '../../src/index.ts';
import { maxInt64 } from '../../src/core/model/plant.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { createPlants } from '../support/stored-plants.ts';

const newStore = (storage: StorageAdapter = new MemoryStorage()): PlantStore => new PlantStore({ storage });

it('PlantStore accepts a user of 1 to 255 UTF-8 bytes, and rejects any other user', async () => {
  const store = newStore();
  const wrong: unknown[] = ['', 'a\0b', '\uD800', 'a\uDC00b', null, undefined, 7, {}, ['ada']];
  for (const user of ['x'.repeat(255), 'é'.repeat(127), '\u2698'.repeat(85), '\u{1F33F}'.repeat(63), 'x']) {
    assert.deepEqual(await store.listPlants(user), []);
    const longest = `${user}${'x'.repeat(255 - Buffer.byteLength(user))}`;
    assert.equal(await store.deletePlant(longest, 1), false);
    wrong.push(`${longest}x`);
  }
  for (const user of wrong as string[]) {
    const rejected = { code: 'invalid_user', message: /255 bytes/ };
    await assert.rejects(store.createPlant(user, { id: 1, name: '' }), rejected);
    await assert.rejects(store.listPlants(user), rejected);
    await assert.rejects(store.listPageJson(user), rejected);
    await assert.rejects(store.deletePlant(user, 1), rejected);
  }
});

it('PlantStore rejects a limit that is not an int32 of 0 or more, and an id that is not an int64', async () => {
  const store = newStore();
  for (const limit of [-1, 1.5, NaN, 2_147_483_648, '1' as unknown as number]) {
    await assert.rejects(store.listPlants('ada', { limit }), { code: 'invalid_limit' });
    await assert.rejects(store.listPageJson('ada', { limit }), { code: 'invalid_limit' });
  }
  for (const id of [maxInt64 + 1n, 1.5, 2 ** 53, '1' as unknown as number]) {
    const message = id === 2 ** 53 ? /^id must be an integer .* needs a bigint/ : /^id must be an integer [^.]*\.$/;
    await assert.rejects(store.createPlant('ada', { id, name: '' }), { code: 'invalid_plant', message });
    await assert.rejects(store.deletePlant('ada', id), { code: 'invalid_id', message });
    await assert.rejects(store.listPlants('ada', { after: id }), { code: 'invalid_after' });
    await assert.rejects(store.listPageJson('ada', { after: id }), { code: 'invalid_after' });
  }
});

it('PlantStore reads lists in pages of at most 1000 plants, without blocking the event loop', async () => {
  const storage = new HookedStorage();
  storage.maxPage = 300;
  storage.beforeList = (_, { limit }) => {
    assert.ok(limit <= 1000);
  };
  const store = newStore(storage);
  await createPlants(store, 2500);
  let count = 0n;
  for await (const { id } of store.iteratePlants('ada')) assert.equal(id, count++);
  assert.equal(count, 2500n);
  let isBlocked = true;
  setImmediate(() => (isBlocked = false));
  assert.equal((await store.listPlants('ada', { limit: 2000 })).length, 2000);
  assert.equal(isBlocked, false);
  assert.equal((await store.listPlants('ada', { limit: 1999, after: 499 })).at(-1)?.id, 2498n);
});

it('listPageJson returns a page with its last id, and whether more plants follow', async () => {
  const store = newStore();
  await createPlants(store, 1001);
  const first = { json: '[{"name":"0"},{"name":"1"}]', count: 2, lastId: 1n, hasMore: true };
  assert.deepEqual(await store.listPageJson('ada', { limit: 2 }), first);
  const last = { json: '[{"name":"1000"}]', count: 1, lastId: 1000n, hasMore: false };
  assert.deepEqual(await store.listPageJson('ada', { after: 999 }), last);
  const empty = { json: '[]', count: 0, lastId: undefined, hasMore: false };
  assert.deepEqual(await store.listPageJson('ada', { limit: 0 }), empty);
  for (const limit of [undefined, 1000, 2_147_483_647]) {
    const { count, lastId, hasMore } = await store.listPageJson('ada', { limit });
    assert.deepEqual([count, lastId, hasMore], [1000, 999n, true]);
  }
  // Callers share the pages in the cache.
  for (const limit of [0, 10]) assert.ok(Object.isFrozen(await store.listPageJson('ada', { limit })));
});

it('a list is rejected with storage_unavailable if the adapter repeats a page or returns an invalid one', async () => {
  const fern = { id: 1n, name: 'Fern' };
  const memory = new MemoryStorage();
  await createPlants(newStore(memory), 1000, 'Fern', 'bob');
  const faults: ((user: string, range: ListRange) => unknown)[] = [
    (user, { limit }) => memory.list(user, { after: undefined, limit }),
    (user, { after, limit }) => memory.list(user, { after, limit: limit + 1 }),
    async (user, range) => ({ plants: (await memory.list(user, range)).plants.reverse(), hasMore: false }),
    ...[[fern], undefined, null, {}, { plants: [] }, { plants: [fern] }, { plants: {}, hasMore: false }].map(
      (page) => async () => page,
    ),
    async () => ({ plants: [], hasMore: true }),
    async () => ({ plants: [2n, 3n, 1n].map((id) => ({ ...fern, id })), hasMore: true }),
  ];
  for (const list of faults) {
    const store = newStore(Object.assign(new MemoryStorage(), { list }));
    const options = { limit: 500, after: 0 };
    for (const listed of [store.listPlants('bob', options), store.listPageJson('bob', options)]) {
      await assert.rejects(listed, (error: PlantStoreError) => {
        assert.equal(error.code, 'storage_unavailable', String(list));
        return error.cause instanceof TypeError;
      });
    }
  }
});

it('a write is rejected with storage_unavailable unless the adapter returns a boolean for each write', async () => {
  for (const outcomes of [undefined, null, 'true', {}, [], [1], [true, true]]) {
    const store = newStore(Object.assign(new MemoryStorage(), { commit: () => Promise.resolve(outcomes) }));
    await assert.rejects(store.deletePlant('ada', 1), { code: 'storage_unavailable' });
  }
});

it('PlantStore finishes accepted writes when it is closed, and rejects later calls', async () => {
  const storage = new MemoryStorage();
  const store = newStore(storage);
  await store.listPageJson('ada');
  const taken = store.createPlant('ada', { id: 1, name: '' });
  const closed = store[Symbol.asyncDispose]();
  await assert.rejects(store.createPlant('ada', { id: 2, name: '' }), { code: 'closed' });
  assert.equal((await taken).id, 1n);
  await closed;
  for (const limit of [undefined, 0, 1]) {
    await assert.rejects(store.listPlants('ada', { limit }), { code: 'closed' });
    await assert.rejects(store.listPageJson('ada', { limit }), { code: 'closed' });
  }
  await assert.rejects(store.deletePlant('ada', 1), { code: 'closed' });
  await assert.rejects(storage.commit([]), { code: 'closed' });
  await store.close();
});

it('PlantStore reports a storage failure as storage_unavailable, with the original error as the cause', async () => {
  const cause = new Error('disk on fire at /secret');
  const storage = new HookedStorage();
  storage.beforeList = storage.beforeCommit = () => {
    throw cause;
  };
  const store = newStore(storage);
  const expected = { code: 'storage_unavailable', cause, message: errorTable.storage_unavailable.message };
  await assert.rejects(store.createPlant('ada', { id: 1, name: '' }), expected);
  await assert.rejects(store.listPlants('ada'), expected);
  await assert.rejects(store.listPageJson('ada'), expected);
});

it('a list contains a plant whose commit failed but took effect, even after the page was cached', async () => {
  const storage = new HookedStorage();
  const store = newStore(storage);
  assert.equal((await store.listPageJson('ada')).count, 0);
  storage.afterCommit = () => Promise.reject(new Error('the response was lost'));
  await assert.rejects(store.createPlant('ada', { id: 7, name: '' }), { code: 'storage_unavailable' });
  assert.equal((await store.listPageJson('ada')).count, 1);
});

it('PlantStore calls the storage outside the async context of a request, and preserves it for the caller', async () => {
  const context = new AsyncLocalStorage<number>();
  const storage = new HookedStorage();
  const seen: unknown[] = [];
  const note = (): unknown => seen.push(context.getStore());
  storage.beforeCommit = storage.beforeList = note;
  storage.dataVersion = () => Number(note()) * 0;
  const store = newStore(storage);
  const request = async (id: number): Promise<void> => {
    await store.createPlant('ada', { id, name: '' });
    assert.equal(context.getStore(), id);
    await store.listPageJson('ada', { after: id });
    assert.equal(context.getStore(), id);
  };
  // Later requests are alone, so their commits do not wait for others.
  for (const ids of [[1, 2, 3], [4], [5]]) {
    await Promise.all(ids.map((id) => context.run(id, () => request(id))));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(seen.length >= 8);
  assert.deepEqual(new Set(seen), new Set([undefined]));
});

it('maxPendingWrites is 10,000 by default', async () => {
  const [storage, held] = [new HookedStorage(), new Hold()];
  storage.beforeCommit = held.hook;
  const store = newStore(storage);
  const creates = Array.from({ length: 10_000 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' }));
  const refused = assert.rejects(store.createPlant('ada', { id: -1, name: 'Fern' }), { code: 'saturated' });
  held.release();
  await Promise.all([...creates, refused]);
});
