import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import fc from 'fast-check';
import { copyPlants, MemoryStorage, PlantStore } from '../../src/index.ts';
import type { CopyCounts, CopyPlantsOptions, OwnedPlant, PlantConflict, StorageAdapter } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/core/model/plant.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { createEach, plantOf } from '../../src/testing/plants.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { hostilePlants, rowOfPlants, scanAll } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function memoryWith(plants: readonly OwnedPlant[]): Promise<HookedStorage> {
  const storage = new HookedStorage();
  await storage.commit(createEach(plants));
  return storage;
}

it('copyPlants › copies all plants of all users, and reports its progress after each page', async (t) => {
  const plants = [...hostilePlants, ...rowOfPlants('zoe', 2500)];
  const from = await memoryWith(plants);
  const to = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
  t.after(() => to.close());
  const reported: CopyCounts[] = [];
  const onProgress = (progress: CopyCounts): unknown => reported.push(progress);
  const counts = await copyPlants(from, to, { onProgress, onConflict: undefined });
  assert.deepEqual(counts, { added: plants.length, existing: 0, conflicts: 0 });
  assert.deepEqual(await copyPlants(from, to), { added: 0, existing: plants.length, conflicts: 0 });
  assert.deepEqual(new Set(await scanAll(to)), new Set(plants));
  const added = reported.map((progress) => progress.added);
  assert.ok(added.length >= 3);
  assert.deepEqual([added, added.at(-1)], [added.toSorted((a, b) => a - b), plants.length]);
});

it('copyPlants › never overwrites a plant, and reports each conflict with both plants', async () => {
  const wanted = [plantOf('ada', 1n, 'Fern'), plantOf('ada', 2n, 'Moss'), plantOf('bob', 1n, 'Ivy')];
  const existing = [plantOf('ada', 1n, 'Fern', ''), plantOf('bob', 1n, 'Oak')];
  const [from, to] = [await memoryWith(wanted), await memoryWith(existing)];
  const conflicts: PlantConflict[] = [];
  const counts = await copyPlants(from, to, { onConflict: (conflict) => conflicts.push(conflict) });
  assert.deepEqual(counts, { added: 1, existing: 0, conflicts: 2 });
  assert.deepEqual(conflicts, [
    { user: 'ada', plant: { id: 1n, name: 'Fern' }, stored: { id: 1n, name: 'Fern', tag: '' } },
    { user: 'bob', plant: { id: 1n, name: 'Ivy' }, stored: { id: 1n, name: 'Oak' } },
  ]);
  assert.deepEqual(new Set(await scanAll(to)), new Set([...existing, wanted[1]]));
});

it('copyPlants › finds the existing plants of every user, in any order of the source', async () => {
  const id = fc.oneof(fc.bigInt({ min: 0n, max: 60n }), fc.constantFrom(minInt64, minInt64 + 1n, maxInt64));
  const key = fc.record({ user: fc.constantFrom('a', 'b', 'c'), id });
  const keys = fc.uniqueArray(key, { maxLength: 150, selector: (each) => `${each.id} ${each.user}` });
  const plants = keys.map((all) => all.map((each) => plantOf(each.user, each.id, `${each.id}`)));
  const row = rowOfPlants('a', 1000);
  const sparse = row.filter((_, n) => n % 40 === 0).reverse();
  const copiesOnlyOthers = async (stored: OwnedPlant[], wanted: OwnedPlant[]): Promise<void> => {
    const to = await memoryWith(stored);
    to.beforeCommit = (writes) => {
      const names = writes.map((write) => (write.kind === 'create' ? write.plant.name : ''));
      assert.ok(writes.length <= 1000 && names.join('').length <= 1_048_576);
    };
    const isStored = ({ user, plant }: OwnedPlant): boolean =>
      stored.some((each) => each.user === user && each.plant.id === plant.id);
    const existing = wanted.filter(isStored).length;
    async function* scan(): AsyncIterable<OwnedPlant[]> {
      yield wanted;
    }
    const counts = await copyPlants(Object.assign(new MemoryStorage(), { scan }), to);
    assert.deepEqual(counts, { added: wanted.length - existing, existing, conflicts: 0 });
  };
  await copiesOnlyOthers(row, sparse);
  await copiesOnlyOthers([], rowOfPlants('b', 1001));
  await copiesOnlyOthers([], rowOfPlants('b', 30, 'x'.repeat(100_000)));
  await fc.assert(fc.asyncProperty(plants, plants, copiesOnlyOthers));
});

it('copyPlants › rejects if a callback or a storage fails, or if the target does not list its plants', async () => {
  const error = new Error('enough');
  const onProgress = () => assert.fail(error);
  const from = await memoryWith(hostilePlants);
  await assert.rejects(copyPlants(from, new MemoryStorage(), { onProgress }), error);
  const closed = new MemoryStorage();
  await closed.close();
  await assert.rejects(copyPlants(closed, new MemoryStorage()), { code: 'closed' });
  await assert.rejects(copyPlants(from, closed), { code: 'closed' });
  const hiding = await memoryWith(hostilePlants);
  hiding.list = async () => ({ plants: [], hasMore: false });
  await assert.rejects(copyPlants(from, hiding), /does not return them/);
});

it('copyPlants › rejects an invalid user or plant of the source, and copies no plant of its page', async () => {
  for (const [owned, code] of [
    [plantOf('', 1n, 'Fern'), 'invalid_user'],
    [plantOf('x'.repeat(256), 1n, 'Fern'), 'invalid_user'],
    [plantOf('ada', 2n ** 70n, 'Fern'), 'invalid_plant'],
    [plantOf('ada', 1n, 'a\0b'), 'invalid_plant'],
  ] as const) {
    const to = new MemoryStorage();
    await assert.rejects(copyPlants(await memoryWith([plantOf('bob', 1n, 'Ivy'), owned]), to), { code });
    assert.deepEqual(await scanAll(to), []);
  }
});

it('copyPlants › rejects wrong arguments with a TypeError', async () => {
  const [memory, other] = [new MemoryStorage(), new MemoryStorage()];
  const store = new PlantStore({ storage: memory });
  for (const { from = memory, to = other, options = {}, message } of [
    { from: store, message: 'from must be a storage adapter: it has no commit' },
    { to: null, message: 'to must be a storage adapter: it has no commit' },
    { to: memory, message: 'from and to must not be the same storage' },
    { options: { onProgres: Date }, message: /^copyPlants has no option onProgres\./ },
    { options: { onConflict: true }, message: 'onConflict must be a function' },
  ]) {
    const copying = copyPlants(from as StorageAdapter, to as StorageAdapter, options as CopyPlantsOptions);
    await assert.rejects(copying, { name: 'TypeError', message });
  }
});
