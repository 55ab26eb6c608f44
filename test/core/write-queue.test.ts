import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { Write } from '../../src/index.ts';
import { makeQueue, turn } from '../support/commits.ts';
import { create, remove } from '../support/writes.ts';

const bounds = { maxPendingWrites: 100, maxBatchWrites: 10 };

/** The time on the clock. It stands still unless a test changes it, so that the tests do not depend on real time. */
let nowMs = 0;

describe('WriteQueue', () => {
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

  it('delays a batch while every iteration adds writes, for at most five iterations', async () => {
    const { commits, queue } = makeQueue({ maxPendingWrites: 100, maxBatchWrites: 100 });
    let added = 0;
    while (commits.batches.length === 0) {
      void queue.add(create(added++));
      void queue.add(create(added++));
      await new Promise(setImmediate);
    }
    assert.equal(commits.batches[0]?.length, 10);
    commits.succeed();
  });

  it('has one batch in flight, and collects the next one meanwhile', async () => {
    const { commits, queue } = makeQueue(bounds);
    const first = queue.add(create(1));
    await turn();
    const second = queue.add(create(2));
    await turn();
    const third = queue.add(create(3));
    await turn();
    assert.equal(commits.underWay, 1);
    commits.succeed();
    assert.equal(await first, true);
    await turn();
    assert.deepEqual(commits.batches.at(-1), [create(2), create(3)]);
    commits.succeed(false);
    assert.deepEqual(await Promise.all([second, third]), [false, false]);
  });

  it('waits for the clients of a commit during which other writes arrived', async () => {
    const { commits, queue } = makeQueue(bounds);
    const first = Promise.all([queue.add(create(1)), queue.add(create(2))]);
    await turn();
    const others = [queue.add(create(3)), queue.add(create(4))];
    nowMs += 8;
    commits.succeed();
    await first;
    for (let n = 0; n < 5; n++) await turn();
    void queue.add(create(5));
    for (let n = 0; n < 5; n++) await turn();
    assert.equal(commits.batches.length, 1);
    const last = queue.add(create(6));
    await turn();
    assert.deepEqual(
      commits.batches.at(-1),
      [3, 4, 5, 6].map((id) => create(id)),
    );
    commits.succeed();
    await Promise.all([...others, last]);
  });

  for (const { commitMs, waitMs } of [
    { commitMs: 3.9, waitMs: 0 },
    { commitMs: 8, waitMs: 2 },
    { commitMs: 40, waitMs: 10 },
    { commitMs: 1000, waitMs: 10 },
  ]) {
    it(`ends this wait after ${waitMs} ms if the commit took ${commitMs} ms`, async () => {
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
        assert.equal(commits.batches.length, 1);
        mock.timers.tick(1);
        await turn();
      }
      assert.equal(commits.batches.length, 2);
      commits.succeed();
      assert.equal(await second, true);
    });
  }

  it('does not wait after a commit during which no write arrived, or after a failed commit', async () => {
    const { commits, queue } = makeQueue(bounds);
    const first = Promise.all([queue.add(create(1)), queue.add(create(2))]);
    await turn();
    nowMs += 1000;
    commits.succeed();
    await first;
    const second = queue.add(create(3));
    await turn();
    assert.equal(commits.batches.length, 2);
    void queue.add(create(4));
    nowMs += 1000;
    commits.fail(new Error('no disk'));
    await assert.rejects(second);
    await turn();
    assert.equal(commits.batches.length, 3);
    commits.succeed();
  });

  for (const duringCommit of [1, 10]) {
    it(`commits a full batch during this wait, ${duringCommit} of it from the time of the commit`, async () => {
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

  it('writes to a plant at most once per batch, in the order of the calls', async () => {
    const { commits, queue } = makeQueue(bounds);
    const settled: string[] = [];
    const add = (name: string, write: Write): Promise<void> =>
      queue.add(write).then(() => {
        settled.push(name);
      });
    const all = Promise.all([
      add('create 1', create(1)),
      add('delete 1', remove(1)),
      add('create 1 again', create(1)),
      add('create 2', create(2)),
    ]);
    for (let n = 0; n < 3; n++) {
      await turn();
      commits.succeed();
    }
    await all;
    assert.deepEqual(commits.batches, [[create(1), create(2)], [remove(1)], [create(1)]]);
    assert.deepEqual(settled, ['create 1', 'create 2', 'delete 1', 'create 1 again']);
  });

  it('commits a full batch immediately, and the rest in the next batch', async () => {
    const { commits, queue } = makeQueue(bounds);
    const outcomes = Promise.all(Array.from({ length: 12 }, (_, id) => queue.add(create(id))));
    // Microtasks start the commit, before any timer or I/O.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    assert.deepEqual(commits.sizes, [10]);
    await turn();
    assert.equal(commits.underWay, 1);
    commits.succeed();
    await turn();
    assert.deepEqual(commits.sizes, [10, 2]);
    commits.succeed();
    assert.equal((await outcomes).length, 12);
    const again = queue.add(create(1));
    await turn();
    commits.succeed();
    assert.equal(await again, true);
  });

  it('rejects exactly the writes of a failed batch, and continues', async () => {
    const { commits, queue } = makeQueue(bounds);
    const failed = Promise.allSettled([queue.add(create(1)), queue.add(create(2))]);
    const next = queue.add(create(1));
    await turn();
    const error = new Error('no room');
    commits.fail(error);
    assert.deepEqual(await failed, [
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    await turn();
    commits.succeed();
    assert.equal(await next, true);
  });

  it('rejects writes past maxPendingWrites with saturated, and accepts writes again when there is room', async () => {
    const { commits, queue } = makeQueue({ maxPendingWrites: 3, maxBatchWrites: 10 });
    const taken = [queue.add(create(1)), queue.add(create(1)), queue.add(create(2))];
    await assert.rejects(queue.add(create(3)), { code: 'saturated' });
    await turn();
    await assert.rejects(queue.add(create(3)), { code: 'saturated' });
    commits.succeed();
    await turn();
    const later = queue.add(create(3));
    commits.succeed();
    await turn();
    commits.succeed();
    assert.deepEqual(await Promise.all([...taken, later]), [true, true, true, true]);
  });

  it('commits queued writes before close resolves, and rejects later writes', async () => {
    await makeQueue(bounds).queue.close();
    const { commits, queue } = makeQueue(bounds);
    const taken = Promise.all([queue.add(create(1)), queue.add(create(1))]);
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    await assert.rejects(queue.add(create(2)), { code: 'closed' });
    await turn();
    commits.succeed();
    await turn();
    assert.equal(isClosed, false);
    commits.succeed();
    await Promise.all([taken, closed, queue.close()]);
    assert.equal(commits.batches.length, 2);
  });
});
