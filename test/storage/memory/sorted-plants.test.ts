import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { SortedPlants } from '../../../src/storage/memory/sorted-plants.ts';
import { ReferenceStore } from '../../../src/testing/reference-store.ts';

// A user has several chunks only with more than 512 plants, which the suite for storage adapters rarely changes.
it('SortedPlants behaves like a sorted map for any sequence of additions and removals', () => {
  const step = fc.record({ id: fc.bigInt({ min: -2000n, max: 2000n }), isAdd: fc.boolean() });
  const steps = fc.array(step, { minLength: 2000, maxLength: 6000, size: 'max' });
  fc.assert(
    fc.property(steps, fc.bigInt({ min: -2001n, max: 2001n }), fc.nat(600), (taken, after, limit) => {
      const plants = new SortedPlants();
      const reference = new ReferenceStore();
      for (const { id, isAdd } of taken) {
        const plant = { id, name: '' };
        if (isAdd) assert.equal(plants.add(plant), reference.create('ada', plant));
        else assert.equal(plants.remove(id), reference.delete('ada', id));
      }
      assert.deepEqual(plants.slice(undefined, Infinity), reference.list('ada'));
      assert.deepEqual(plants.slice(after, limit), reference.list('ada', { after, limit }));
      const sorted = reference.list('ada').map(({ id }) => id);
      // The first plants are removed last, so that chunks in the middle become empty.
      const third = Math.floor(sorted.length / 3);
      for (const id of [...sorted.slice(third), ...sorted.slice(0, third)]) assert.ok(plants.remove(id));
      assert.ok(plants.isEmpty);
    }),
    // Shrinking thousands of steps would take minutes.
    { numRuns: 20, endOnFailure: true },
  );
});
