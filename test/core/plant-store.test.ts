import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorTable, MemoryStorage, PlantStore } from '../../src/index.ts';
import type { NewPlant, PlantStoreOptions, StorageAdapter } from '../../src/index.ts';
import { maxInt64 } from '../../src/core/model/int64.ts';
import { heldStorage } from '../support/held-storage.ts';
import { createPlants } from '../support/stored-plants.ts';

const newStore = (storage: StorageAdapter = new MemoryStorage()): PlantStore => new PlantStore({ storage });

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('PlantStore.createPlant', () => {
  it('returns the stored plant as a new object', async () => {
    const store = newStore();
    const given = { id: 1, name: 'Fern', tag: 'indoor', more: true };
    const plant = await store.createPlant('ada', given);
    assert.deepEqual(plant, { id: 1n, name: 'Fern', tag: 'indoor' });
    plant.name = 'changed';
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern', tag: 'indoor' }]);
  });

  it('rejects an invalid plant, and stores nothing', async () => {
    const store = newStore();
    for (const plant of [null, 'plant', { name: 'Fern' }, { id: 2 ** 53, name: '' }, { id: 1, name: 'a\0b' }]) {
      await assert.rejects(store.createPlant('ada', plant as NewPlant), { code: 'invalid_plant' });
    }
    assert.deepEqual(await store.listPlants('ada'), []);
  });

  it('rejects an id that is taken, and does not change the plant', async () => {
    const store = newStore();
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    await assert.rejects(store.createPlant('ada', { id: 1n, name: 'Moss' }), {
      name: 'PlantStoreError',
      code: 'id_taken',
    });
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    await store.createPlant('bob', { id: 1n, name: 'Moss' });
  });
});

describe('PlantStore.listPlants', () => {
  it('lists all plants, or those within limit and after', async () => {
    const store = newStore();
    for (const id of [3, 1, 2]) await store.createPlant('ada', { id, name: '' });
    const ids = async (options?: Parameters<PlantStore['listPlants']>[1]): Promise<number[]> =>
      (await store.listPlants('ada', options)).map(({ id }) => Number(id));
    assert.deepEqual(await ids(), [1, 2, 3]);
    assert.deepEqual(await ids({ limit: 2 }), [1, 2]);
    assert.deepEqual(await ids({ after: 1 }), [2, 3]);
    assert.deepEqual(await ids({ after: 1n, limit: 1 }), [2]);
    assert.deepEqual(await ids({ limit: 0 }), []);
    assert.deepEqual(await ids({ limit: 2_147_483_647, after: undefined }), [1, 2, 3]);
  });

  it('rejects a limit or after outside its range', async () => {
    const store = newStore();
    for (const limit of [-1, 1.5, NaN, 2_147_483_648, '1' as unknown as number]) {
      await assert.rejects(store.listPlants('ada', { limit }), { code: 'invalid_limit' });
    }
    for (const after of [maxInt64 + 1n, 1.5, '1' as unknown as number]) {
      await assert.rejects(store.listPlants('ada', { after }), { code: 'invalid_after' });
    }
  });
});

describe('PlantStore.iteratePages', () => {
  it('yields all plants in pages of at most 1000', async () => {
    const store = newStore();
    await createPlants(store, 2500);
    const lengths = (await collect(store.iteratePages('ada'))).map(({ length }) => length);
    assert.deepEqual(lengths, [1000, 1000, 500]);
    assert.equal((await store.listPlants('ada')).length, 2500);
    assert.equal((await store.listPlants('ada', { limit: 2000 })).length, 2000);
    assert.equal((await store.listPlants('ada', { limit: 1999, after: 499 })).at(-1)?.id, 2498n);
  });

  it('yields all plants, or as many as the limit, if the adapter ends pages early', async () => {
    const storage = new MemoryStorage();
    const list = storage.list.bind(storage);
    let reads = 0;
    storage.list = (user, { after, limit }) => {
      reads++;
      return list(user, { after, limit: Math.min(limit, 3) });
    };
    const store = newStore(storage);
    await createPlants(store, 10);
    const [all, some] = [await store.listPlants('ada'), await store.listPlants('ada', { limit: 7 })];
    assert.deepEqual([all.length, some.length, reads], [10, 7, 4 + 3]);
  });

  it('lets the event loop continue between two pages', async () => {
    const store = newStore();
    await createPlants(store, 3000);
    let turns = 0;
    const count = (): void => {
      turns++;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    await store.listPlants('ada');
    clearImmediate(immediate);
    assert.ok(turns >= 3, `${turns} turns`);
  });
});

describe('PlantStore.deletePlant', () => {
  it('returns whether the plant existed', async () => {
    const store = newStore();
    await store.createPlant('ada', { id: 1, name: '' });
    assert.equal(await store.deletePlant('bob', 1n), false);
    assert.equal(await store.deletePlant('ada', 1), true);
    assert.equal(await store.deletePlant('ada', 1), false);
  });

  it('rejects an id that is not an int64, and tells the caller to pass a bigint instead of an unsafe integer', async () => {
    const store = newStore();
    for (const id of [maxInt64 + 1n, '1' as unknown as number]) {
      await assert.rejects(store.deletePlant('ada', id), { code: 'invalid_id' });
    }
    const message = 'id is a number outside the range of safe integers: pass a bigint.';
    await assert.rejects(store.deletePlant('ada', 2 ** 53), { code: 'invalid_id', message });
    const ofAfter = { code: 'invalid_after', message: message.replace('id', 'after') };
    await assert.rejects(store.listPlants('ada', { after: -(2 ** 53) }), ofAfter);
  });
});

describe('PlantStore', () => {
  it('counts pending writes, including those that are being committed', async () => {
    const { storage, release, committing } = heldStorage();
    const store = new PlantStore({ storage });
    assert.equal(store.pendingWrites, 0);
    const created = createPlants(store, 3);
    await committing;
    assert.equal(store.pendingWrites, 3);
    release();
    await created;
    assert.equal(store.pendingWrites, 0);
  });

  it('rejects invalid options with a TypeError that names them', () => {
    const storage = new MemoryStorage();
    for (const [options, message] of [
      [{ storage: null }, /storage/],
      [{ storage: {} }, /storage/],
      [{ storage: Object.assign(new MemoryStorage(), { scan: undefined }) }, /it has no scan$/],
      [{ storage, maxPendingWrites: 0 }, /maxPendingWrites/],
      [{ storage, maxCacheBytes: 1.5 }, /maxCacheBytes/],
    ] as const) {
      assert.throws(() => new PlantStore(options as unknown as PlantStoreOptions), { name: 'TypeError', message });
    }
  });

  it('reports a storage that returns an invalid result as storage_unavailable', async () => {
    for (const result of [undefined, null, 'plants', {}, []]) {
      const wrong = { list: () => Promise.resolve(result), commit: () => Promise.resolve(result) };
      const store = newStore(Object.assign(new MemoryStorage(), wrong));
      await assert.rejects(store.listPlants('ada'), { code: 'storage_unavailable' });
      await assert.rejects(store.listPage('ada'), { code: 'storage_unavailable' });
      await assert.rejects(store.createPlant('ada', { id: 1, name: '' }), { code: 'storage_unavailable' });
      await assert.rejects(store.deletePlant('ada', 1), { code: 'storage_unavailable' });
    }
  });

  it('rejects a user that is not a storable string of 1 to 255 bytes', async () => {
    const store = newStore();
    const problem = { code: 'invalid_user', message: /^user must be a string of 1 to 255 bytes of UTF-8/ };
    for (const user of ['', 'a\0', '\uD800', 'x'.repeat(256), '\u2698'.repeat(86), null, undefined, 1] as string[]) {
      await assert.rejects(store.createPlant(user, { id: 1, name: '' }), problem);
      await assert.rejects(store.listPlants(user), problem);
      await assert.rejects(store.deletePlant(user, 1), problem);
    }
  });

  it('finishes accepted writes on close, rejects later calls, and closes the storage', async () => {
    const storage = new MemoryStorage();
    const store = newStore(storage);
    const taken = store.createPlant('ada', { id: 1, name: '' });
    const closed = store.close();
    await assert.rejects(store.createPlant('ada', { id: 2, name: '' }), { code: 'closed' });
    assert.equal((await taken).id, 1n);
    await closed;
    for (const limit of [undefined, 0, 1]) {
      await assert.rejects(store.listPlants('ada', { limit }), { code: 'closed' });
    }
    await assert.rejects(store.deletePlant('ada', 1), { code: 'closed' });
    await assert.rejects(storage.commit([]), { code: 'closed' });
    await store.close();
  });

  it('closes at the end of an `await using` block', async () => {
    const storage = new MemoryStorage();
    {
      await using store = newStore(storage);
      await store.createPlant('ada', { id: 1, name: '' });
    }
    await assert.rejects(storage.commit([]), { code: 'closed' });
  });

  it('reports a failure of the storage as storage_unavailable, with the cause but not in the message', async () => {
    const cause = new Error('disk on fire at /secret');
    const list = (): never => {
      throw cause;
    };
    const store = newStore(Object.assign(new MemoryStorage(), { commit: () => Promise.reject(cause), list }));
    const expected = { code: 'storage_unavailable', cause, message: errorTable.storage_unavailable.message };
    await assert.rejects(store.createPlant('ada', { id: 1, name: '' }), expected);
    await assert.rejects(store.listPlants('ada'), expected);
  });
});
