import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PlantStoreError } from '../../src/index.ts';
import { WriteQueue } from '../../src/core/write-queue.ts';
import { apply, makeQueue, turn } from '../support/commits.ts';
import { create, idOf, remove } from '../support/writes.ts';

const bounds = { maxPendingWrites: 100, maxBatchWrites: 10 };

// A lost write would never settle.
describe('WriteQueue, over a storage that cannot hold some plants', { timeout: 30_000 }, () => {
  it('splits a failed batch into halves, so that only the writes fail that the storage cannot hold', async () => {
    const batches: bigint[][] = [];
    const cause = new PlantStoreError('invalid_plant');
    const queue = new WriteQueue(async (writes) => {
      const ids = writes.map(idOf);
      batches.push(ids);
      if (ids.includes(5n) || ids.includes(6n)) throw cause;
      return writes.map(() => true);
    }, bounds);
    const settled = await Promise.allSettled(Array.from({ length: 8 }, (_, id) => queue.add(create(id))));
    assert.deepEqual(
      batches.map((ids) => ids.map(Number)),
      [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7], [4, 5], [4], [5], [6, 7], [6], [7]],
    );
    for (const [id, outcome] of settled.entries()) {
      if (id !== 5 && id !== 6) assert.deepEqual(outcome, { status: 'fulfilled', value: true });
      else {
        assert.deepEqual(reasonOf(outcome), {
          code: 'invalid_plant',
          message: 'The storage cannot hold this plant.',
          cause,
        });
      }
    }
  });

  it('commits the second half of a batch if the first half fails for another reason', async () => {
    const { commits, queue } = makeQueue(bounds);
    const settled = Promise.allSettled([queue.add(create(1)), queue.add(create(2)), queue.add(create(3))]);
    await turn();
    commits.fail(new PlantStoreError('invalid_plant'));
    await turn();
    commits.fail(new Error('no room'));
    await turn();
    commits.succeed();
    const [first, second, third] = await settled;
    assert.equal(first.status === 'rejected' && (first.reason as Error).message, 'no room');
    assert.deepEqual(
      [second, third],
      [
        { status: 'fulfilled', value: true },
        { status: 'fulfilled', value: true },
      ],
    );
    assert.deepEqual(commits.batches.slice(1), [[create(1)], [create(2), create(3)]]);
  });

  it('frees the room of each part of a batch when it settles, and closes after the last part', async () => {
    const { commits, queue } = makeQueue({ maxPendingWrites: 4, maxBatchWrites: 10 });
    const settled = Promise.allSettled([1, 2, 3, 4].map((id) => queue.add(create(id))));
    await turn();
    commits.fail(new PlantStoreError('invalid_plant'));
    await turn();
    await assert.rejects(queue.add(create(5)), { code: 'saturated' });
    commits.succeed();
    await turn();
    // The first two writes are settled, so two more may wait. One of them is for a plant of the batch.
    const later = Promise.all([queue.add(create(5)), queue.add(remove(4))]);
    await assert.rejects(queue.add(create(6)), { code: 'saturated' });
    let isClosed = false;
    const closed = queue.close().then(() => {
      isClosed = true;
    });
    assert.equal(commits.underWay, 1);
    commits.succeed();
    await settled;
    await turn();
    assert.deepEqual(commits.batches.at(-1), [create(5), remove(4)]);
    assert.equal(isClosed, false);
    commits.succeed();
    assert.deepEqual(await later, [true, true]);
    await closed;
  });

  it('returns the outcomes of sequential writes for any writes, with one commit at a time', async () => {
    const operation = fc.record({
      id: fc.integer({ min: 1, max: 12 }),
      isCreate: fc.boolean(),
      isUnstorable: fc.boolean(),
      pause: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { maxLength: 60 }),
        fc.integer({ min: 1, max: 16 }),
        async (operations, maxBatchWrites) => {
          const there = new Set<string>();
          let underWay = 0;
          const queue = new WriteQueue(
            async (writes) => {
              assert.equal(underWay++, 0);
              assert.ok(writes.length <= maxBatchWrites);
              assert.equal(new Set(writes.map(idOf)).size, writes.length);
              await turn();
              underWay--;
              if (writes.some((write) => write.kind === 'create' && write.plant.name === 'unstorable')) {
                throw new PlantStoreError('invalid_plant');
              }
              return writes.map((write) => apply(there, write.kind === 'create', String(idOf(write))));
            },
            { maxPendingWrites: 100, maxBatchWrites },
          );
          const outcomes: Promise<boolean | string>[] = [];
          for (const { id, isCreate, isUnstorable, pause } of operations) {
            const write = isCreate ? create(id, 'ada', isUnstorable ? 'unstorable' : '') : remove(id);
            outcomes.push(queue.add(write).catch((error: unknown) => (error as PlantStoreError).code));
            if (pause) await turn();
          }
          let settled = 0;
          for (const outcome of outcomes) {
            void outcome.then(() => {
              settled++;
            });
          }
          await queue.close();
          await turn();
          assert.equal(settled, operations.length);
          const model = new Set<string>();
          const expected = operations.map(({ id, isCreate, isUnstorable }) =>
            isCreate && isUnstorable ? 'invalid_plant' : apply(model, isCreate, String(id)),
          );
          assert.deepEqual(await Promise.all(outcomes), expected);
        },
      ),
      { numRuns: 200 },
    );
  });
});

function reasonOf(outcome: PromiseSettledResult<boolean>): unknown {
  if (outcome.status === 'fulfilled') return outcome.value;
  const { code, message, cause } = outcome.reason as PlantStoreError;
  return { code, message, cause };
}
