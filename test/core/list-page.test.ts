import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { ListRange, PlantPage, StorageAdapter, Write } from '../../src/index.ts';
import { createPlants } from '../support/stored-plants.ts';

/** Counts its reads. */
class CountingStorage extends MemoryStorage {
  reads = 0;

  override list(user: string, range: ListRange): Promise<PlantPage> {
    this.reads++;
    return super.list(user, range);
  }
}

/** Returns a storage without `dataVersion`, which cannot report changes by other processes. */
function withoutDataVersion(storage: CountingStorage): StorageAdapter {
  return Object.assign(storage, { dataVersion: undefined });
}

describe('PlantStore.listPage', () => {
  it('returns a page as JSON, with its last id and whether more plants follow', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await createPlants(store, 1001);
    for (const [options, json, last, hasMore] of [
      [{ limit: 2 }, '[{"name":"0"},{"name":"1"}]', 1n, true],
      [{ after: 999 }, '[{"name":"1000"}]', 1000n, false],
      [{ limit: 0 }, '[]', undefined, false],
    ] as const) {
      const count = (JSON.parse(json) as unknown[]).length;
      assert.deepEqual(await store.listPage('ada', options), { json, count, last, hasMore });
    }
    for (const limit of [undefined, 1000, 5000]) {
      const { count, last, hasMore } = await store.listPage('ada', { limit });
      assert.deepEqual([count, last, hasMore], [1000, 999n, true]);
    }
  });

  it('rejects the same arguments as listPlants, and after close also rejects cached pages', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await assert.rejects(store.listPage('ada', { limit: -1 }), { code: 'invalid_limit' });
    await assert.rejects(store.listPage('ada', { after: 2n ** 63n }), { code: 'invalid_after' });
    await assert.rejects(store.listPage(''), { code: 'invalid_user' });
    await store.listPage('ada');
    await store.close();
    for (const limit of [undefined, 0, 1]) await assert.rejects(store.listPage('ada', { limit }), { code: 'closed' });
  });

  it('reads a first page once, until a plant of its user changes', async () => {
    const storage = new CountingStorage();
    const store = new PlantStore({ storage });
    await createPlants(store, 3);
    for (let n = 0; n < 5; n++) assert.equal((await store.listPage('ada', { limit: 10 })).count, 3);
    assert.equal(storage.reads, 1);
    await store.createPlant('bob', { id: 1, name: '' });
    assert.equal((await store.listPage('ada', { limit: 10 })).count, 3);
    assert.equal(storage.reads, 1);
    await store.deletePlant('ada', 0);
    assert.equal((await store.listPage('ada', { limit: 10 })).count, 2);
    await store.createPlant('ada', { id: 9, name: '' });
    assert.equal((await store.listPage('ada', { limit: 10 })).count, 3);
    assert.equal(storage.reads, 3);
  });

  it('reads the page of every user in a batch again', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    for (let id = 1; id < 4; id++) {
      await Promise.all(['ada', 'bob', 'eve'].map((user) => store.createPlant(user, { id, name: '' })));
      for (const user of ['ada', 'bob', 'eve']) assert.equal((await store.listPage(user)).count, id);
    }
  });

  it('returns pages that callers cannot change', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await createPlants(store, 1);
    for (const limit of [0, 10]) {
      const page = (await store.listPage('ada', { limit })) as { json: string };
      assert.throws(() => {
        page.json = 'changed';
      }, TypeError);
    }
  });

  it('caches nothing if maxCacheBytes is 0 or the storage has no dataVersion', async () => {
    const [uncached, unversioned] = [new CountingStorage(), new CountingStorage()];
    for (const [storage, store] of [
      [uncached, new PlantStore({ storage: uncached, maxCacheBytes: 0 })],
      [unversioned, new PlantStore({ storage: withoutDataVersion(unversioned) })],
    ] as const) {
      await createPlants(store, 3);
      for (let n = 0; n < 3; n++) await store.listPage('ada');
      assert.equal(storage.reads, 3);
    }
  });

  it('shows a write whose commit failed but took effect', async () => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const store = new PlantStore({ storage });
    await createPlants(store, 1);
    assert.equal((await store.listPage('ada')).count, 1);
    storage.commit = async (writes: readonly Write[]) => {
      await commit(writes);
      throw new Error('the response was lost');
    };
    await assert.rejects(store.createPlant('ada', { id: 7, name: '' }), { code: 'storage_unavailable' });
    assert.equal((await store.listPage('ada')).count, 2);
  });
});
