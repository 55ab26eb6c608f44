import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PlantStore } from '../../src/index.ts';
import type { PlantStoreError, Write } from '../../src/index.ts';
import { idOf } from '../../src/core/storage-adapter.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { mockTimers } from '../support/mock-timers.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';

/** Opens a store whose commits wait until the test completes them, with an error if there is one. */
function open(maxPendingWrites = 10_000) {
  const storage = new HookedStorage();
  const batches: (readonly Write[])[] = [];
  let held = Promise.withResolvers<undefined>();
  storage.beforeCommit = (writes) => {
    batches.push(writes);
    return held.promise;
  };
  const store = new PlantStore({ storage, maxPendingWrites });
  return {
    store,
    batches,
    create: (id: number, user = 'ada') => store.createPlant(user, { id, name: '' }),
    complete: (error?: Error) => {
      const { resolve, reject } = held;
      held = Promise.withResolvers();
      if (error === undefined) resolve(undefined);
      else reject(error);
    },
  };
}

const sizesOf = ({ batches }: ReturnType<typeof open>): number[] => batches.map(({ length }) => length);
const range = (length: number, from = 0): number[] => Array.from({ length }, (_, n) => from + n);
const iteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const iterations = async (count = 10): Promise<void> => {
  for (let n = 0; n < count; n++) await iteration();
};

// A batch costs one fsync or round trip. Clients whose writes do not share it wait for one after another, and a client
// that is alone must not wait for others. The timeout ends a test if a write never settles.
describe('concurrent writes', { timeout: 20_000 }, () => {
  it('of several iterations share a commit, even if every iteration adds more', async () => {
    const held = open();
    const created: Promise<unknown>[] = [];
    while (held.batches.length === 0) {
      created.push(held.create(created.length), held.create(created.length + 1));
      await iteration();
    }
    assert.ok(created.length < 20);
    assert.ok((sizesOf(held)[0] ?? 0) > 4, 'the commit contains the writes of several iterations');
    held.complete();
    await Promise.all(created);
  });

  it('are committed at once, in batches of 1000, if there are as many', async () => {
    const held = open();
    const created = range(2500).map((id) => held.create(id));
    // A microtask starts the commit, before any timer or I/O callback.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    assert.deepEqual(sizesOf(held), [1000]);
    for (let n = 0; n < 3; n++) {
      await iterations();
      held.complete();
    }
    await Promise.all(created);
    assert.deepEqual(sizesOf(held), [1000, 1000, 500]);
  });

  it('are committed at once for a client that is alone, and together for several clients', async () => {
    const held = open();
    /** Returns whether the first of the writes is committed before the end of the iteration. */
    const isAtOnce = async (...ids: number[]): Promise<boolean> => {
      const before = held.batches.length;
      const created = ids.map((id) => held.create(id));
      await Promise.resolve();
      const found = held.batches.length > before;
      while (held.batches.length === before) await iteration();
      held.complete();
      await Promise.all(created);
      await iteration();
      return found;
    };
    const found: boolean[] = [];
    for (const ids of [[1], [2], [3], [4, 5], [6], [7]]) found.push(await isAtOnce(...ids));
    assert.deepEqual(found, [false, true, true, true, false, true]);
  });

  it('wait after a slow commit, at most 10 ms, for the clients of that commit', async (t) => {
    let nowMs = 0;
    t.mock.method(performance, 'now', () => nowMs);
    mockTimers(t, { apis: ['setTimeout'] });
    const held = open();
    const created = [held.create(1), held.create(2)];
    await iterations();
    created.push(held.create(3));
    nowMs += 24;
    held.complete();
    await iterations();
    created.push(held.create(4));
    await iterations();
    assert.deepEqual(sizesOf(held), [2]);
    created.push(held.create(5));
    await iterations();
    assert.deepEqual(sizesOf(held), [2, 3]);

    created.push(held.create(6));
    nowMs += 1000;
    held.complete();
    await iterations();
    t.mock.timers.tick(9);
    await iterations();
    assert.equal(held.batches.length, 2);
    t.mock.timers.tick(1);
    await iterations();
    held.complete();
    await Promise.all(created);
  });

  it('are rejected with their commit only', async () => {
    const held = open();
    const failing = Promise.allSettled(['ada', 'bob'].map((user) => held.create(1, user)));
    await iterations();
    const others = Promise.all([held.create(1), held.create(2)]);
    held.complete(new Error('no disk'));
    assert.ok((await failing).every(({ status }) => status === 'rejected'));
    await iterations();
    held.complete();
    await others;
  });

  it('past maxPendingWrites are rejected with saturated until there is room', async () => {
    const held = open(3);
    const created = [held.create(1), held.create(2), held.create(3)];
    for (let n = 0; n < 2; n++) {
      await iterations();
      assert.equal(held.store.pendingWrites, 3);
      await assert.rejects(held.create(9), { code: 'saturated' });
      await assert.rejects(held.store.deletePlant('bob', 9), { code: 'saturated' });
      held.complete();
      await Promise.all(created);
      if (n === 0) created.push(held.create(4), held.create(5), held.create(6));
    }
    assert.equal(held.store.pendingWrites, 0);
  });

  it('have the outcomes of the same writes one after another, in one commit at a time', async () => {
    const write = fc.record({ id: fc.integer({ min: 1, max: 12 }), isCreate: fc.boolean(), pause: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 60 }), async (writes) => {
        const storage = new HookedStorage();
        let running = 0;
        storage.beforeCommit = async (batch) => {
          assert.equal(running++, 0);
          assert.equal(new Set(batch.map(idOf)).size, batch.length);
          await iteration();
          running--;
        };
        const store = new PlantStore({ storage });
        const reference = new ReferenceStore();
        const outcomes: Promise<boolean>[] = [];
        const expected: boolean[] = [];
        for (const { id, isCreate, pause } of writes) {
          const create = (): Promise<boolean> =>
            store.createPlant('ada', { id, name: '' }).then(
              () => true,
              (error: unknown) => (error as PlantStoreError).code !== 'id_taken',
            );
          outcomes.push(isCreate ? create() : store.deletePlant('ada', id));
          const plant = { id: BigInt(id), name: '' };
          expected.push(isCreate ? reference.create('ada', plant) : reference.delete('ada', plant.id));
          if (pause) await iteration();
        }
        await store.close();
        assert.deepEqual(await Promise.all(outcomes), expected);
      }),
      { numRuns: 200 },
    );
  });
});
