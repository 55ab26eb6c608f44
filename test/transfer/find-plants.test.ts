import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryStorage } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { compareOwned } from '../../src/core/key-order.ts';
import { findPlants, keyOf } from '../../src/transfer/find-plants.ts';
import { owned } from '../support/stored-plants.ts';
import { createEach } from '../support/writes.ts';

const key = fc.record({
  user: fc.constantFrom('a', 'b', '\uffff', '\u{10000}'),
  id: fc.oneof(fc.bigInt({ min: 0n, max: 60n }), fc.constantFrom(minInt64, minInt64 + 1n, maxInt64)),
});
const keys = fc
  .uniqueArray(key, { maxLength: 150, selector: ({ user, id }) => `${id} ${user}` })
  .map((all) => all.map(({ user, id }) => owned(user, { id, name: `${id}` })).sort(compareOwned));

describe('findPlants', () => {
  it('finds the stored plant of each key', async () => {
    await fc.assert(
      fc.asyncProperty(keys, keys, async (stored, wanted) => {
        const storage = new MemoryStorage();
        await storage.commit(createEach(stored));
        const found = await findPlants(storage, wanted);
        for (const each of wanted) {
          const expected = stored.find((one) => compareOwned(one, each) === 0)?.plant;
          assert.deepEqual(found.get(keyOf(each)), expected);
        }
      }),
    );
  });
});
