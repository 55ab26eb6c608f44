import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage } from '../../src/index.ts';
import type { OwnedPlant } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/model/int64.ts';
import { compareOwned } from '../../src/storage/key-order.ts';
import { PlantFinder } from '../../src/transfer/plant-finder.ts';
import { owned, rowOfPlants } from '../support/stored-plants.ts';
import { createEach } from '../support/writes.ts';

const key = fc.record({
  user: fc.constantFrom('a', 'b', '\uffff', '\u{10000}'),
  id: fc.oneof(fc.bigInt({ min: 0n, max: 60n }), fc.constantFrom(minInt64, minInt64 + 1n, maxInt64)),
});
const keys = fc
  .uniqueArray(key, { maxLength: 150, selector: ({ user, id }) => `${id} ${user}` })
  .map((all) => all.map(({ user, id }) => owned(user, { id, name: `${id}` })).sort(compareOwned));

async function storageWith(plants: readonly OwnedPlant[]): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  await storage.commit(createEach(plants));
  return storage;
}

describe('PlantFinder', () => {
  it('finds the stored plant of each key, in calls of any length', async () => {
    await fc.assert(
      fc.asyncProperty(keys, keys, fc.integer({ min: 1, max: 20 }), async (stored, wanted, callLength) => {
        const finder = new PlantFinder(await storageWith(stored));
        for (let at = 0; at < wanted.length; at += callLength) {
          const call = wanted.slice(at, at + callLength);
          const expected = call.map((each) => stored.find((one) => compareOwned(one, each) === 0)?.plant);
          assert.deepEqual(await finder.findAll(call), expected);
        }
      }),
    );
  });

  it('needs fewer reads than keys for consecutive plants', async () => {
    const plants = rowOfPlants('ada', 5000);
    const storage = await storageWith(plants);
    const scan = storage.scan.bind(storage);
    let reads = 0;
    storage.scan = (range) => {
      reads++;
      return scan(range);
    };
    const found = await new PlantFinder(storage).findAll(plants);
    assert.deepEqual(
      found,
      plants.map(({ plant }) => plant),
    );
    assert.ok(reads < 20, `${reads} reads`);
  });
});
