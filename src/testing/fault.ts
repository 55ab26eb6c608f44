import { PlantStore } from '../store/plant-store.ts';
import { batchWith, expectNothingWritten, storedBefore } from './commit.ts';
import { expectCode, expectEqual, rejectionOf } from './expect.ts';
import { create, ids, range, remove } from './plants.ts';
import type { FaultyWrite, StorageLocation, Suite, SuiteTest } from './suite.ts';
import type { StorageAdapter, Write } from '../storage/storage-adapter.ts';

const failingWrites: readonly { readonly key: FaultyWrite; readonly write: Write }[] = [
  { key: { kind: 'create', user: 'ada', id: 13n }, write: create('ada', 13n) },
  { key: { kind: 'delete', user: 'ada', id: 2n }, write: remove('ada', 2n) },
];

/**
 * Registers the tests for failing commits. The `makeWriteFail` and `makePlantUnstorable` options cause the failures.
 */
export function testFault(suite: Suite): void {
  const { test, skip, options } = suite;
  const { persistent } = options;

  /**
   * Opens an adapter and commits the plants in `storedBefore`. Returns the adapter and, if other adapters can open the
   * same storage, a second adapter for it. After a failed batch, both adapters must still return exactly these plants.
   */
  async function openWithPlants(
    { open }: SuiteTest,
    location: StorageLocation,
  ): Promise<[StorageAdapter, ...StorageAdapter[]]> {
    const storage = await open(location);
    await storage.commit(storedBefore);
    return persistent ? [storage, await open(location)] : [storage];
  }

  for (const { key, write } of failingWrites) {
    const title = `a batch is all or nothing if the storage fails at a ${key.kind} in the middle`;
    if (options.makeWriteFail === undefined) {
      skip(`${title}: not tested, because the option makeWriteFail is missing`);
      continue;
    }
    test(title, async (t) => {
      const location = await t.createLocation();
      const storages = await openWithPlants(t, location);
      await t.settle('makeWriteFail', () => options.makeWriteFail?.(location, key));
      await rejectionOf(
        storages[0].commit(batchWith(write, 3)),
        'commit must reject a batch that contains the write passed to makeWriteFail.',
      );
      await expectNothingWritten(storages);
    });
  }

  const titles = {
    batch: 'if the storage cannot hold a plant of a batch, commit rejects with invalid_plant and writes nothing',
    neighbours: 'a plant that the storage cannot hold does not make the other 63 creates fail',
  };
  if (options.makePlantUnstorable === undefined) {
    for (const title of Object.values(titles)) {
      skip(`${title}: not tested, because the option makePlantUnstorable is missing`);
    }
    return;
  }

  test(titles.batch, async (t) => {
    const location = await t.createLocation();
    const storages = await openWithPlants(t, location);
    await t.settle('makePlantUnstorable', () =>
      options.makePlantUnstorable?.(location, { kind: 'create', user: 'ada', id: 13n }),
    );
    const contract = 'A commit with a plant that the storage cannot hold must reject with the code invalid_plant.';
    await expectCode(storages[0].commit(batchWith(create('ada', 13n), 3)), 'invalid_plant', contract);
    await expectNothingWritten(storages);
  });

  test(titles.neighbours, async (t) => {
    const location = await t.createLocation();
    const store = new PlantStore({ storage: await t.open(location) });
    await store.createPlant('ada', { id: 1000, name: 'a plant' });
    await t.settle('makePlantUnstorable', () =>
      options.makePlantUnstorable?.(location, { kind: 'create', user: 'ada', id: 13n }),
    );
    const creates = range(64).map((id) => store.createPlant('ada', { id, name: 'a plant' }));
    const settled = await Promise.allSettled(creates);
    for (const [id, attempt] of creates.entries()) {
      if (id === 13) {
        await expectCode(
          attempt,
          'invalid_plant',
          'A create of a plant that the storage cannot hold must reject with invalid_plant.',
        );
      } else {
        expectEqual(
          settled[id]?.status,
          'fulfilled',
          `The create of plant ${id} must succeed, although the storage cannot hold another plant.`,
        );
      }
    }
    const stored = [...range(64).filter((id) => id !== 13), 1000].map(BigInt);
    expectEqual(
      ids(await store.listPlants('ada')),
      stored,
      'The list must contain every plant except the one that the storage cannot hold.',
    );
  });
}
