import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorTable, MemoryStorage, PlantStore } from '../../src/index.ts';
import type { NewPlant, StorageAdapter } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { heldStorage } from '../support/held-storage.ts';
import { createPlants } from '../support/stored-plants.ts';

const newStore = (storage: StorageAdapter = new MemoryStorage()): PlantStore => new PlantStore({ storage });

describe('PlantStore.createPlant', () => {
  it('returns the stored plant as a new object', async () => {
    const store = newStore();
    const given = { id: 1, name: 'Fern', tag: 'indoor', more: true };
    const plant = await store.createPlant('ada', given);
    assert.deepEqual(plant, { id: 1n, name: 'Fern', tag: 'indoor' });
    plant.name = 'changed';
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern', tag: 'indoor' }]);
  });

  it('accepts every int64 and every safe integer as the id', async () => {
    const store = newStore();
    const ids = [minInt64, maxInt64, 0n, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -0.0 + 5];
    for (const id of ids) assert.equal((await store.createPlant('ada', { id, name: '' })).id, BigInt(id));
  });

  it('rejects ids that are not exact', async () => {
    const store = newStore();
    for (const id of [2 ** 53, 1.5, NaN, Infinity, maxInt64 + 1n, minInt64 - 1n, '1', null, true, {}, [1]]) {
      const plant = { id, name: 'Fern' } as NewPlant;
      await assert.rejects(store.createPlant('ada', plant), { code: 'invalid_plant', message: /^id / });
    }
  });

  it('tells the caller to pass a bigint instead of an unsafe integer', async () => {
    await assert.rejects(newStore().createPlant('ada', { id: 2 ** 60, name: '' }), {
      code: 'invalid_plant',
      message: /pass a bigint/,
    });
  });

  it('rejects names and tags that some storage cannot hold', async () => {
    const store = newStore();
    for (const text of [null, 1, {}, 'a\0b', '\uD800', 'a\uDC00b']) {
      await assert.rejects(store.createPlant('ada', { id: 1, name: text } as NewPlant), {
        code: 'invalid_plant',
        message: /^name /,
      });
      await assert.rejects(store.createPlant('ada', { id: 1, name: '', tag: text } as NewPlant), {
        code: 'invalid_plant',
        message: /^tag /,
      });
    }
    assert.deepEqual(await store.listPlants('ada'), []);
  });

  it('names a missing field, and treats an undefined tag as absent', async () => {
    const store = newStore();
    await assert.rejects(store.createPlant('ada', { name: 'Fern' } as NewPlant), {
      code: 'invalid_plant',
      message: 'id is required.',
    });
    const nameless = { id: 1 } as NewPlant;
    await assert.rejects(store.createPlant('ada', nameless), { code: 'invalid_plant', message: 'name is required.' });
    for (const plant of [null, undefined, 'plant', 1, []]) {
      await assert.rejects(store.createPlant('ada', plant as unknown as NewPlant), { code: 'invalid_plant' });
    }
    assert.deepEqual(await store.createPlant('ada', { id: 1, name: '', tag: undefined }), { id: 1n, name: '' });
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
    const lengths: number[] = [];
    for await (const page of store.iteratePages('ada')) lengths.push(page.length);
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

  it('rejects an id that is not an int64', async () => {
    const store = newStore();
    for (const id of [2 ** 53, maxInt64 + 1n, '1' as unknown as number]) {
      await assert.rejects(store.deletePlant('ada', id), { code: 'invalid_id' });
    }
  });

  it('tells the caller to pass a bigint instead of a number that is not a safe integer', async () => {
    const store = newStore();
    const expected = (code: string, name: string): object => ({
      code,
      message: `${name} is a number outside the range of safe integers: pass a bigint.`,
    });
    await assert.rejects(store.deletePlant('ada', 2 ** 53), expected('invalid_id', 'id'));
    await assert.rejects(store.listPlants('ada', { after: -(2 ** 53) }), expected('invalid_after', 'after'));
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
    assert.throws(() => new PlantStore({ storage: null as unknown as StorageAdapter }), {
      name: 'TypeError',
      message: /storage/,
    });
    const withoutScan = Object.assign(new MemoryStorage(), { scan: undefined }) as unknown as StorageAdapter;
    assert.throws(() => new PlantStore({ storage: withoutScan }), { name: 'TypeError', message: /it has no scan$/ });
    assert.throws(() => new PlantStore({ storage: {} as StorageAdapter }), { name: 'TypeError', message: /storage/ });
    assert.throws(() => new PlantStore({ storage, maxPendingWrites: 0 }), {
      name: 'TypeError',
      message: /maxPendingWrites/,
    });
    assert.throws(() => new PlantStore({ storage, maxCacheBytes: 1.5 }), {
      name: 'TypeError',
      message: /maxCacheBytes/,
    });
  });

  it('reports a storage that returns an invalid result as storage_unavailable', async () => {
    for (const page of [undefined, null, 'plants', {}, []]) {
      const storage = Object.assign(new MemoryStorage(), {
        list: () => Promise.resolve(page),
      }) as unknown as StorageAdapter;
      await assert.rejects(newStore(storage).listPlants('ada'), { code: 'storage_unavailable' });
      await assert.rejects(newStore(storage).listPage('ada'), { code: 'storage_unavailable' });
      const silent = Object.assign(new MemoryStorage(), {
        commit: () => Promise.resolve(page),
      }) as unknown as StorageAdapter;
      await assert.rejects(newStore(silent).createPlant('ada', { id: 1, name: '' }), { code: 'storage_unavailable' });
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
    const failing: StorageAdapter = {
      commit: () => Promise.reject(cause),
      list: () => {
        throw cause;
      },
      scan: () => Promise.reject(cause),
      close: () => Promise.resolve(),
    };
    const store = newStore(failing);
    const expected = { code: 'storage_unavailable', cause, message: errorTable.storage_unavailable.message };
    await assert.rejects(store.createPlant('ada', { id: 1, name: '' }), expected);
    await assert.rejects(store.listPlants('ada'), expected);
  });

  it('reports too few outcomes of an adapter as storage_unavailable', async () => {
    const store = newStore(
      new (class extends MemoryStorage {
        override commit(): Promise<boolean[]> {
          return Promise.resolve([]);
        }
      })(),
    );
    await assert.rejects(store.deletePlant('ada', 1), { code: 'storage_unavailable' });
  });
});
