import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { plantPageJson } from '../../src/store/plant-store.ts';
import type { ListRange, StorageAdapter, StoredPlant, Write } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Counts what is read of it. */
class CountingStorage extends MemoryStorage {
  reads = 0;

  override list(user: string, range: ListRange): Promise<StoredPlant[]> {
    this.reads++;
    return super.list(user, range);
  }
}

/** A storage that cannot tell of changes by others. */
function withoutDataVersion(storage: CountingStorage): StorageAdapter {
  return {
    commit: (writes) => storage.commit(writes),
    list: (user, range) => storage.list(user, range),
    scan: (range) => storage.scan(range),
    close: () => storage.close(),
  };
}

async function grow(store: PlantStore, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, id) => store.createPlant('ada', { id, name: `${id}` })));
}

describe('plantPageJson', () => {
  it('gives a page as JSON, and says where it goes on', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await grow(store, 1001);
    assert.deepEqual(await plantPageJson(store, 'ada', { limit: 2 }), {
      json: '[{"name":"0"},{"name":"1"}]',
      count: 2,
      last: 1n,
      hasMore: true,
    });
    assert.deepEqual(await plantPageJson(store, 'ada', { after: 999 }), {
      json: '[{"name":"1000"}]',
      count: 1,
      last: 1000n,
      hasMore: false,
    });
    assert.deepEqual(await plantPageJson(store, 'ada', { limit: 0 }), {
      json: '[]',
      count: 0,
      last: undefined,
      hasMore: false,
    });
    for (const limit of [undefined, 1000, 5000]) {
      const { count, last, hasMore } = await plantPageJson(store, 'ada', { limit });
      assert.deepEqual([count, last, hasMore], [1000, 999n, true]);
    }
  });

  it('refuses what listPlants refuses', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await assert.rejects(plantPageJson(store, 'ada', { limit: -1 }), { code: 'invalid_limit' });
    await assert.rejects(plantPageJson(store, 'ada', { after: 2n ** 63n }), { code: 'invalid_after' });
    await assert.rejects(plantPageJson(store, ''), { code: 'invalid_user' });
    await store.close();
    await assert.rejects(plantPageJson(store, 'ada'), { code: 'closed' });
  });

  it('reads a first page once, until its user is written to', async () => {
    const storage = new CountingStorage();
    const store = new PlantStore({ storage });
    await grow(store, 3);
    for (let n = 0; n < 5; n++) assert.equal((await plantPageJson(store, 'ada', { limit: 10 })).count, 3);
    assert.equal(storage.reads, 1);
    await store.createPlant('bob', { id: 1, name: '' });
    assert.equal((await plantPageJson(store, 'ada', { limit: 10 })).count, 3);
    assert.equal(storage.reads, 1);
    await store.deletePlant('ada', 0);
    assert.equal((await plantPageJson(store, 'ada', { limit: 10 })).count, 2);
    await store.createPlant('ada', { id: 9, name: '' });
    assert.equal((await plantPageJson(store, 'ada', { limit: 10 })).count, 3);
    assert.equal(storage.reads, 3);
  });

  it('reads anew for every user of a batch', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    for (let id = 1; id < 4; id++) {
      await Promise.all(['ada', 'bob', 'eve'].map((user) => store.createPlant(user, { id, name: '' })));
      for (const user of ['ada', 'bob', 'eve']) assert.equal((await plantPageJson(store, user)).count, id);
    }
  });

  it('does not keep a page that was read before a commit and came after it', async () => {
    const storage = new MemoryStorage();
    const store = new PlantStore({ storage });
    await grow(store, 1);
    const list = storage.list.bind(storage);
    const arrival = Promise.withResolvers<undefined>();
    storage.list = async (user, range) => {
      const plants = await list(user, range);
      await arrival.promise;
      return plants;
    };
    const early = plantPageJson(store, 'ada');
    await store.createPlant('ada', { id: 7, name: '' });
    arrival.resolve(undefined);
    assert.equal((await early).count, 1);
    assert.equal((await plantPageJson(store, 'ada')).count, 2);
  });

  it('gives nothing of what it kept, once it is closed', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await grow(store, 1);
    await plantPageJson(store, 'ada');
    await store.close();
    await assert.rejects(plantPageJson(store, 'ada'), { code: 'closed' });
  });

  it('lets no caller change a page that others get', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await grow(store, 1);
    for (const limit of [0, 10]) {
      const page = (await plantPageJson(store, 'ada', { limit })) as { json: string };
      assert.throws(() => {
        page.json = 'changed';
      }, TypeError);
    }
  });

  it('keeps nothing where it is told so, and where the storage cannot tell of changes by others', async () => {
    for (const [storage, options] of [
      [new CountingStorage(), { maxCachedText: 0 }],
      [new CountingStorage(), {}],
    ] as const) {
      const isDumb = !('maxCachedText' in options);
      const store = new PlantStore({ storage: isDumb ? withoutDataVersion(storage) : storage, ...options });
      await grow(store, 3);
      for (let n = 0; n < 3; n++) await plantPageJson(store, 'ada');
      assert.equal(storage.reads, 3);
    }
  });

  it('shows a write whose commit failed but took effect', async () => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const store = new PlantStore({ storage });
    await grow(store, 1);
    assert.equal((await plantPageJson(store, 'ada')).count, 1);
    storage.commit = async (writes: readonly Write[]) => {
      await commit(writes);
      throw new Error('lost on the way back');
    };
    await assert.rejects(store.createPlant('ada', { id: 7, name: '' }), { code: 'storage_unavailable' });
    assert.equal((await plantPageJson(store, 'ada')).count, 2);
  });

  it('shows what another process committed to the same file', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    const [first, second] = [
      new PlantStore({ storage: new SqliteStorage(path) }),
      new PlantStore({ storage: new SqliteStorage(path) }),
    ];
    t.after(() => Promise.all([first.close(), second.close()]));
    for (let id = 1; id < 20; id++) {
      await second.createPlant('ada', { id, name: '' });
      await nextTurn();
      assert.equal((await plantPageJson(first, 'ada')).count, id);
    }
    await second.deletePlant('ada', 1);
    await nextTurn();
    assert.equal((await plantPageJson(first, 'ada')).count, 18);
  });
});
