import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { WriteQueue } from '../../src/core/write-queue.ts';
import { makeQueue, turn } from '../support/commits.ts';
import { ReferenceStore } from '../support/reference-store.ts';
import { create, idOf, remove } from '../support/writes.ts';

const bounds = { maxPendingWrites: 100, maxBatchWrites: 10 };

/** The current time, which only the tests change, so that the tests do not depend on real time. */
let nowMs = 0;

// The timeout ends a test if a write never settles.
describe('WriteQueue', { timeout: 10_000 }, () => {
  beforeEach(() => {
    mock.method(performance, 'now', () => nowMs);
    mock.timers.enable({ apis: ['setTimeout'] });
  });

  afterEach(() => {
    mock.reset();
  });

  it('commits the writes of one event loop iteration as one batch', async () => {
    const { commits, queue } = makeQueue(bounds);
    const outcomes = Promise.all([queue.add(create(1)), queue.add(create(2)), queue.add(create(1, 'bob'))]);
    await turn();
    assert.deepEqual(commits.batches, [[create(1), create(2), create(1, 'bob')]]);
    commits.succeed();
    assert.deepEqual(await outcomes, [true, true, true]);
  });

  it('delays a batch while every iteration adds writes, but for at most five iterations', async () => {
    const { commits, queue } = makeQueue({ maxPendingWrites: 100, maxBatchWrites: 100 });
    let added = 0;
    while (commits.batches.length === 0) {
      void queue.add(create(added++));
      void queue.add(create(added++));
      await new Promise(setImmediate);
    }
    assert.deepEqual(commits.sizes, [10]);
    commits.succeed();
  });

  it('commits a full batch immediately, and the remaining writes in the next batch', async () => {
    const { commits, queue } = makeQueue(bounds);
    const outcomes = Promise.all(Array.from({ length: 12 }, (_, id) => queue.add(create(id))));
    // A microtask starts the commit, before any timer or I/O callback.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    assert.deepEqual(commits.sizes, [10]);
    await turn();
    assert.deepEqual(commits.sizes, [10]);
    commits.succeed();
    await turn();
    assert.deepEqual(commits.sizes, [10, 2]);
    commits.succeed();
    await outcomes;
  });

  it('waits for new writes from the clients of a commit if other writes arrived during the commit', async () => {
    const { commits, queue } = makeQueue(bounds);
    const first = Promise.all([queue.add(create(1)), queue.add(create(2))]);
    await turn();
    const others = [queue.add(create(3)), queue.add(create(4))];
    nowMs += 8;
    commits.succeed();
    await first;
    for (let n = 0; n < 5; n++) await turn();
    others.push(queue.add(create(5)));
    for (let n = 0; n < 5; n++) await turn();
    assert.deepEqual(commits.sizes, [2]);
    others.push(queue.add(create(6)));
    await turn();
    assert.deepEqual(
      commits.batches.at(-1),
      [3, 4, 5, 6].map((id) => create(id)),
    );
    commits.succeed();
    await Promise.all(others);
  });

  for (const [commitMs, waitMs] of [
    [3.9, 0],
    [8, 2],
    [40, 10],
    [1000, 10],
  ] as const) {
    it(`waits ${waitMs} ms for new writes after a commit that took ${commitMs} ms`, async () => {
      const { commits, queue } = makeQueue(bounds);
      const first = queue.add(create(1));
      await turn();
      const second = queue.add(create(2));
      nowMs += commitMs;
      commits.succeed();
      await first;
      await turn();
      if (waitMs > 0) {
        mock.timers.tick(waitMs - 1);
        await turn();
        assert.deepEqual(commits.sizes, [1]);
        mock.timers.tick(1);
        await turn();
      }
      assert.deepEqual(commits.sizes, [1, 1]);
      commits.succeed(false);
      assert.equal(await second, false);
    });
  }

  it('does not wait for new writes after a failed commit or after a commit during which no write arrived', async () => {
    const { commits, queue } = makeQueue(bounds);
    const first = Promise.all([queue.add(create(1)), queue.add(create(2))]);
    await turn();
    nowMs += 1000;
    commits.succeed();
    await first;
    const second = queue.add(create(3));
    await turn();
    const third = queue.add(create(4));
    nowMs += 1000;
    commits.fail(new Error('no disk'));
    await assert.rejects(second, { message: 'no disk' });
    await turn();
    assert.deepEqual(commits.sizes, [2, 1, 1]);
    commits.succeed();
    assert.equal(await third, true);
  });

  for (const duringCommit of [1, 10]) {
    it(`commits a full batch without waiting if ${duringCommit} of its 10 writes arrived during the previous commit`, async () => {
      const { commits, queue } = makeQueue(bounds);
      const first = Promise.all(Array.from({ length: 9 }, (_, id) => queue.add(create(id))));
      await turn();
      for (let id = 10; id < 10 + duringCommit; id++) void queue.add(create(id));
      nowMs += 1000;
      commits.succeed();
      await first;
      for (let id = 10 + duringCommit; id < 20; id++) void queue.add(create(id));
      await turn();
      assert.deepEqual(commits.sizes, [9, 10]);
      commits.succeed();
    });
  }

  it('rejects writes past maxPendingWrites with saturated, and accepts writes again when there is room', async () => {
    const { commits, queue } = makeQueue({ maxPendingWrites: 3, maxBatchWrites: 10 });
    const taken = [queue.add(create(1)), queue.add(create(1)), queue.add(create(2))];
    await turn();
    await assert.rejects(queue.add(create(3)), { code: 'saturated' });
    commits.succeed();
    await turn();
    taken.push(queue.add(create(3)), queue.add(create(4)));
    await assert.rejects(queue.add(create(5)), { code: 'saturated' });
    for (let n = 0; n < 2; n++) {
      commits.succeed();
      await turn();
    }
    assert.deepEqual(await Promise.all(taken), Array(5).fill(true));
  });

  it('commits the first write of an iteration at once if the last iteration with writes had only one', async () => {
    const { commits, queue } = makeQueue(bounds);
    const add = async (...ids: number[]): Promise<number> => {
      const before = commits.batches.length;
      const added = Promise.all(ids.map((id) => queue.add(create(id))));
      await Promise.resolve();
      const atOnce = commits.batches.length - before;
      while (commits.batches.length === before) await turn();
      commits.succeed();
      await added;
      return atOnce;
    };
    assert.equal(await add(1), 0);
    await turn();
    assert.equal(await add(2), 1);
    await turn();
    assert.equal(await add(3), 1);
    assert.equal(await add(4), 0, 'the second write of the iteration');
    await turn();
    assert.equal(await add(5), 0, 'the last iteration had two writes');
    await turn();
    assert.equal(await add(6, 7), 1);
    await turn();
    assert.equal(await add(8), 0, 'the last iteration had two writes');
  });

  it('returns the same outcomes as sequential writes for any writes, and runs one commit at a time', async () => {
    const operation = fc.record({
      id: fc.integer({ min: 1, max: 12 }),
      isCreate: fc.boolean(),
      pause: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { maxLength: 60 }),
        fc.integer({ min: 1, max: 16 }),
        async (operations, maxBatchWrites) => {
          const stored = new ReferenceStore();
          let underWay = 0;
          const queue = new WriteQueue(
            async (writes) => {
              assert.equal(underWay++, 0);
              assert.ok(writes.length <= maxBatchWrites);
              assert.equal(new Set(writes.map(idOf)).size, writes.length);
              await turn();
              underWay--;
              return writes.map((write) => stored.apply(write));
            },
            { maxPendingWrites: 100, maxBatchWrites },
          );
          let settled = 0;
          const outcomes: Promise<boolean>[] = [];
          for (const { id, isCreate, pause } of operations) {
            const outcome = queue.add(isCreate ? create(id) : remove(id));
            outcomes.push(outcome.finally(() => settled++));
            if (pause) await turn();
          }
          await queue.close();
          await turn();
          assert.equal(settled, operations.length);
          const reference = new ReferenceStore();
          const expected = operations.map(({ id, isCreate }) => reference.apply(isCreate ? create(id) : remove(id)));
          assert.deepEqual(await Promise.all(outcomes), expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});
