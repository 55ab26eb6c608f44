import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { ListRange, PlantPage, Write } from '../../src/adapter.ts';
import { createPlants } from '../support/stored-plants.ts';

/** A storage that counts its reads. */
class CountingStorage extends MemoryStorage {
  reads = 0;

  override list(user: string, range: ListRange): Promise<PlantPage> {
    this.reads++;
    return super.list(user, range);
  }
}

describe('PlantStore.listPageJson', () => {
  it('returns a page as JSON, with its last id and whether more plants follow', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await createPlants(store, 1001);
    for (const [options, json, count, last, hasMore] of [
      [{ limit: 2 }, '[{"name":"0"},{"name":"1"}]', 2, 1n, true],
      [{ after: 999 }, '[{"name":"1000"}]', 1, 1000n, false],
      [{ limit: 0 }, '[]', 0, undefined, false],
    ] as const) {
      assert.deepEqual(await store.listPageJson('ada', options), { json, count, last, hasMore });
    }
    for (const limit of [undefined, 1000, 5000]) {
      const { count, last, hasMore } = await store.listPageJson('ada', { limit });
      assert.deepEqual([count, last, hasMore], [1000, 999n, true]);
    }
  });

  it('caches a first page until one of the plants of the user changes', async () => {
    const storage = new CountingStorage();
    const store = new PlantStore({ storage });
    const change = async (write: () => Promise<unknown>, count: number, reads: number): Promise<void> => {
      await write();
      for (let n = 0; n < 3; n++) assert.equal((await store.listPageJson('ada', { limit: 10 })).count, count);
      assert.equal(storage.reads, reads);
    };
    await change(() => createPlants(store, 3), 3, 1);
    await change(() => createPlants(store, 1, '', 'joe'), 3, 1);
    await change(() => store.deletePlant('ada', 0), 2, 2);
    await change(() => Promise.all(['bob', 'ada', 'eve'].map((user) => createPlants(store, 1, '', user))), 3, 3);
  });

  it('returns pages that callers cannot change', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    for (const limit of [0, 10]) assert.ok(Object.isFrozen(await store.listPageJson('ada', { limit })));
  });

  it('caches nothing if maxCacheBytes is 0 or the storage has no dataVersion', async () => {
    const [uncached, unversioned] = [new CountingStorage(), new CountingStorage()];
    for (const [storage, store] of [
      [uncached, new PlantStore({ storage: uncached, maxCacheBytes: 0 })],
      [unversioned, new PlantStore({ storage: Object.assign(unversioned, { dataVersion: undefined }) })],
    ] as const) {
      for (let n = 0; n < 3; n++) await store.listPageJson('ada');
      assert.equal(storage.reads, 3);
    }
  });

  it('shows a write whose commit failed but took effect', async () => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const store = new PlantStore({ storage });
    assert.equal((await store.listPageJson('ada')).count, 0);
    storage.commit = async (writes: readonly Write[]) => {
      await commit(writes);
      throw new Error('the response was lost');
    };
    await assert.rejects(store.createPlant('ada', { id: 7, name: '' }), { code: 'storage_unavailable' });
    assert.equal((await store.listPageJson('ada')).count, 1);
  });
});
