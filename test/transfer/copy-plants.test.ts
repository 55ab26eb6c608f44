import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { MapStorage } from '../../examples/own-adapter.ts';
import { copyPlants, MemoryStorage, PlantStore } from '../../src/index.ts';
import type { CopyCounts, CopyPlantsOptions, OwnedPlant, PlantConflict, StorageAdapter } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { scanPages } from '../../src/transfer/pages.ts';
import { hostilePlants, owned, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createEach } from '../support/writes.ts';

async function memoryWith(plants: readonly OwnedPlant[]): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  await storage.commit(createEach(plants));
  return storage;
}

async function plantsOf(storage: StorageAdapter): Promise<OwnedPlant[]> {
  const plants: OwnedPlant[] = [];
  for await (const page of scanPages(storage)) plants.push(...page);
  return plants;
}

describe('copyPlants', () => {
  it('copies all plants of all users, reports each page, and leaves both storages open', async (t) => {
    const plants = [...hostilePlants, ...rowOfPlants('zoe', 2500)];
    const from = await memoryWith(plants);
    const to = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
    t.after(() => to.close());
    const reported: CopyCounts[] = [];
    const counts = await copyPlants(from, to, { onProgress: (progress) => reported.push(progress) });
    assert.deepEqual(counts, { added: plants.length, present: 0, conflicts: 0 });
    assert.deepEqual(await plantsOf(to), await plantsOf(from));
    assert.ok(reported.length >= 3);
    assert.deepEqual(reported.at(-1), counts);
    const added = reported.map((progress) => progress.added);
    assert.ok(added.every((count, n) => count >= (added[n - 1] ?? 0)));
  });

  it('copies all plants to and from a third-party adapter', async () => {
    const [from, own, to] = [await memoryWith(hostilePlants), new MapStorage(), new MemoryStorage()];
    const counts = { added: hostilePlants.length, present: 0, conflicts: 0 };
    assert.deepEqual(await copyPlants(from, own), counts);
    assert.deepEqual(await copyPlants(own, to), counts);
    assert.deepEqual(await plantsOf(to), await plantsOf(from));
  });

  it('counts the plants that the target already stores', async () => {
    const [from, to] = [await memoryWith(hostilePlants), await memoryWith(hostilePlants.slice(10))];
    const present = hostilePlants.length - 10;
    assert.deepEqual(await copyPlants(from, to), { added: 10, present, conflicts: 0 });
    assert.deepEqual(await copyPlants(from, to), { added: 0, present: present + 10, conflicts: 0 });
  });

  it('never overwrites a plant, and reports each conflict with both plants', async () => {
    const wanted = [
      owned('ada', { id: 1n, name: 'Fern' }),
      owned('ada', { id: 2n, name: 'Moss' }),
      owned('bob', { id: 1n, name: 'Ivy' }),
    ];
    const existing = [owned('ada', { id: 1n, name: 'Fern', tag: '' }), owned('bob', { id: 1n, name: 'Oak' })];
    const [from, to] = [await memoryWith(wanted), await memoryWith(existing)];
    const conflicts: PlantConflict[] = [];
    const counts = await copyPlants(from, to, { onConflict: (conflict) => conflicts.push(conflict) });
    assert.deepEqual(counts, { added: 1, present: 0, conflicts: 2 });
    assert.deepEqual(conflicts, [
      { user: 'ada', plant: { id: 1n, name: 'Fern' }, existing: { id: 1n, name: 'Fern', tag: '' } },
      { user: 'bob', plant: { id: 1n, name: 'Ivy' }, existing: { id: 1n, name: 'Oak' } },
    ]);
    assert.deepEqual(await plantsOf(to), [existing[0], wanted[1], existing[1]]);
  });

  it('rejects with the error of a callback or of a storage', async () => {
    const error = new Error('enough');
    const onProgress = (): void => {
      throw error;
    };
    await assert.rejects(copyPlants(await memoryWith(hostilePlants), new MemoryStorage(), { onProgress }), error);
    const closed = new MemoryStorage();
    await closed.close();
    await assert.rejects(copyPlants(closed, new MemoryStorage()), { code: 'closed' });
    await assert.rejects(copyPlants(await memoryWith(hostilePlants), closed), { code: 'closed' });
  });

  const memory = new MemoryStorage();
  const other = new MemoryStorage();
  const store = new PlantStore({ storage: memory });
  const withoutScan = { commit: Date, list: Date, close: Date };
  const wrong: Record<string, [unknown, unknown, unknown, string]> = {
    'a missing source': [undefined, memory, {}, 'from must be a storage adapter: it has no commit'],
    'a null target': [memory, null, {}, 'to must be a storage adapter: it has no commit'],
    'a PlantStore': [store, other, {}, 'from must be a storage adapter: it has no commit'],
    'an adapter without scan': [memory, withoutScan, {}, 'to must be a storage adapter: it has no scan'],
    'the same storage twice': [memory, memory, {}, 'from and to must not be the same storage'],
    'an unknown option': [
      memory,
      other,
      { onProgres: Date },
      'copyPlants has no option onProgres. Its options are onProgress, onConflict',
    ],
    'a callback that is not a function': [memory, other, { onConflict: true }, 'onConflict must be a function'],
  };
  for (const [what, [from, to, options, message]] of Object.entries(wrong)) {
    it(`rejects ${what} with a TypeError`, async () => {
      const copying = copyPlants(from as StorageAdapter, to as StorageAdapter, options as CopyPlantsOptions);
      await assert.rejects(copying, { name: 'TypeError', message });
    });
  }
});
