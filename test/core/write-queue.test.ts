import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { it } from 'node:test';
import fc from 'fast-check';
import { PlantStore } from '../../src/index.ts';
import type { CommitMessage, PlantStoreError } from '../../src/index.ts';
import { idOf } from '../../src/core/storage-adapter.ts';
import { ReferenceStore } from '../../src/testing/plants.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';
import { mockClock, mockTimers } from '../support/mock-timers.ts';

function openWith(beforeCommit: HookedStorage['beforeCommit'], maxPendingWrites?: number): PlantStore {
  return new PlantStore({ storage: Object.assign(new HookedStorage(), { beforeCommit }), maxPendingWrites });
}

/** Opens a store whose commits wait until the test completes them. `sizes` contains the size of each commit. */
function open(maxPendingWrites?: number) {
  const sizes: number[] = [];
  let held = new Hold();
  const store = openWith(({ length }) => {
    sizes.push(length);
    return held.hook();
  }, maxPendingWrites);
  return {
    store,
    sizes,
    create: (id: number) => store.createPlant('ada', { id, name: '' }),
    complete: () => {
      held.release();
      held = new Hold();
    },
  };
}

const iteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const iterations = async (count = 10): Promise<void> => {
  for (let n = 0; n < count; n++) await iteration();
};

it('write queue › a commit contains the writes of several iterations, and starts even if more arrive', async () => {
  const { sizes, create, complete } = open();
  const created: Promise<unknown>[] = [];
  while (sizes.length === 0) {
    created.push(create(created.length), create(created.length + 1));
    await iteration();
  }
  assert.ok(created.length < 20);
  assert.ok((sizes[0] ?? 0) > 4, 'the commit contains the writes of several iterations');
  complete();
  await Promise.all(created);
});

it('write queue › concurrent writes are committed in batches of 1000, the first one immediately', async () => {
  const { sizes, create, complete } = open();
  const created = Array.from({ length: 2500 }, (_, id) => create(id));
  // A microtask starts the commit, before any timer or I/O callback.
  await new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });
  assert.deepEqual(sizes, [1000]);
  for (let n = 0; n < 3; n++) {
    await iterations();
    complete();
  }
  await Promise.all(created);
  assert.deepEqual(sizes, [1000, 1000, 500]);
});

it('write queue › a batch ends at 1 MiB, and leaves space for the writes of other users', async () => {
  const batches: string[][] = [];
  const store = openWith((writes) => batches.push(writes.map((write) => `${write.user} ${idOf(write)}`)));
  const create = (user: string, id: number, kibibytes: number): Promise<unknown> =>
    store.createPlant(user, { id, name: 'x'.repeat(kibibytes * 512), tag: 'x'.repeat(kibibytes * 512) });
  const created = [create('ada', 1, 400), create('ada', 2, 400), create('ada', 3, 10), create('bob', 1, 2000)];
  // The deletion must not overtake the creation.
  const deleted = [store.deletePlant('ada', 2), store.deletePlant('bob', 1)];
  created.push(create('eve', 1, 500));
  await Promise.all(created);
  assert.deepEqual(await Promise.all(deleted), [true, true]);
  assert.deepEqual(batches, [['ada 1', 'ada 3', 'eve 1'], ['ada 2'], ['bob 1'], ['ada 2', 'bob 1']]);
});

it('write queue › a write waits for other writes, unless the previous commit had only one write', async () => {
  const { sizes, create, complete } = open();
  /** Returns whether the first of the writes is committed before the end of the iteration. */
  const isAtOnce = async (...ids: number[]): Promise<boolean> => {
    const before = sizes.length;
    const created = ids.map(create);
    await Promise.resolve();
    const found = sizes.length > before;
    while (sizes.length === before) await iteration();
    complete();
    await Promise.all(created);
    await iteration();
    return found;
  };
  const found: boolean[] = [];
  for (const ids of [[1], [2], [3], [4, 5], [6], [7]]) found.push(await isAtOnce(...ids));
  assert.deepEqual(found, [false, true, true, true, false, true]);
});

it('write queue › a write that arrived during a commit of one write waits for other writes', async () => {
  const { sizes, create, complete } = open();
  const created = [create(1)];
  await iterations();
  complete();
  await iterations();
  created.push(create(2));
  await iteration();
  created.push(create(3));
  complete();
  await iteration();
  created.push(create(4));
  await iterations();
  assert.deepEqual(sizes, [1, 1, 2]);
  complete();
  await Promise.all(created);
});

it('write queue › a batch after a slow commit waits at most 10 ms for the clients of that commit', async (t) => {
  const clock = mockClock(t);
  mockTimers(t, { apis: ['setTimeout'] });
  const { store, sizes, create, complete } = open();
  const completeAfter = async (commitMs: number): Promise<void> => {
    clock.nowMs += commitMs;
    complete();
    await iterations();
  };
  const written: Promise<unknown>[] = [create(1), create(2)];
  await iterations();
  for (const [id, commitMs, waitMs] of [
    [3, 24, 6],
    [4, 1000, 10],
  ] as const) {
    written.push(create(id));
    await completeAfter(commitMs);
    t.mock.timers.tick(waitMs - 1);
    await iterations();
    assert.equal(sizes.length, id - 2);
    t.mock.timers.tick(1);
    await iterations();
    assert.equal(sizes.length, id - 1);
  }

  // The wait ends when the client of the last batch has returned.
  written.push(create(5));
  await completeAfter(24);
  assert.deepEqual(sizes, [2, 1, 1]);
  written.push(create(6));
  await iterations();
  assert.deepEqual(sizes, [2, 1, 1, 2]);

  // If no write arrives during the commit, there is no wait.
  written.push(store.deletePlant('ada', 7), store.deletePlant('ada', 7));
  await completeAfter(3);
  await completeAfter(1000);
  assert.deepEqual(sizes, [2, 1, 1, 2, 1, 1]);
  complete();
  await Promise.all(written);
});

it('write queue › a commit that fails rejects only its own writes', async () => {
  const store = openWith(({ length }) => {
    if (length === 2) throw new Error('no disk');
  });
  // The third write needs a batch of its own, because its id is the same as the first one's.
  const created = await Promise.allSettled([1, 2, 1].map((id) => store.createPlant('ada', { id, name: '' })));
  const statuses = created.map(({ status }) => status);
  assert.deepEqual([...statuses, store.pendingWrites], ['rejected', 'rejected', 'fulfilled', 0]);
});

it('write queue › writes past maxPendingWrites are rejected with saturated until a commit completes', async () => {
  const { store, create, complete } = open(3);
  for (const id of [1, 4]) {
    const created = [create(id), create(id + 1), create(id + 2)];
    await iterations();
    assert.equal(store.pendingWrites, 3);
    await assert.rejects(create(9), { code: 'saturated' });
    await assert.rejects(store.deletePlant('bob', 9), { code: 'saturated' });
    complete();
    await Promise.all(created);
  }
  assert.equal(store.pendingWrites, 0);
});

it('write queue › concurrent writes have the outcomes of sequential writes, with one commit at a time', async () => {
  const name = fc.constantFrom('', 'x'.repeat(600_000));
  const write = fc.record({ id: fc.bigInt({ min: 1n, max: 12n }), isCreate: fc.boolean(), pause: fc.boolean(), name });
  const property = fc.asyncProperty(fc.array(write, { maxLength: 60 }), async (writes) => {
    let running = 0;
    const store = openWith(async (batch) => {
      assert.equal(running++, 0);
      assert.equal(new Set(batch.map(idOf)).size, batch.length);
      await iteration();
      running--;
    });
    const reference = new ReferenceStore();
    const outcomes: Promise<boolean>[] = [];
    const expected: boolean[] = [];
    for (const { id, isCreate, pause, name } of writes) {
      const plant = { id, name };
      const create = (): Promise<boolean> =>
        store.createPlant('ada', plant).then(
          () => true,
          (error: unknown) => (error as PlantStoreError).code !== 'id_taken',
        );
      outcomes.push(isCreate ? create() : store.deletePlant('ada', id));
      const user = 'ada';
      expected.push(reference.apply(isCreate ? { kind: 'create', user, plant } : { kind: 'delete', user, id }));
      if (pause) await iteration();
    }
    await store.close();
    assert.deepEqual(await Promise.all(outcomes), expected);
  });
  await fc.assert(property, { numRuns: 200 });
});

it('plant-store:commit reports the writes, the error and the duration of each commit', async (t) => {
  const startMs = performance.now();
  const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
  const events = eventsOf(t, 'plant-store:commit');
  const storage = new HookedStorage();
  const store = new PlantStore({ storage });
  await Promise.all([1, 2, 3].map((id) => store.createPlant('ada', { id, name: '' })));
  storage.beforeCommit = () => Promise.reject(new Error('The disk failed'));
  await assert.rejects(store.createPlant('ada', { id: 4, name: '' }));
  const succeeded = ['start', 'end', 'asyncStart', 'asyncEnd'];
  assert.deepEqual(events, [...succeeded, 'start', 'end', 'error', 'asyncStart', 'asyncEnd']);
  const [first, second] = messages;
  assert.deepEqual([messages.length, first?.writes, first?.error], [2, 3, undefined]);
  assert.deepEqual([second?.writes, second?.error?.code], [1, 'storage_unavailable']);
  const elapsedMs = performance.now() - startMs;
  for (const { durationMs } of messages) assert.ok(durationMs > 0 && durationMs < elapsedMs);
});

it('plant-store:commit lets a subscriber combine the async contexts of the writes for the commit', async (t) => {
  const context = new AsyncLocalStorage<string>();
  const { start } = tracingChannel<unknown, CommitMessage>('plant-store:commit');
  start.bindStore(context, ({ contexts }) => contexts.map((run) => run(() => context.getStore())).join('+'));
  t.after(() => start.unbindStore(context));
  const seen: (string | undefined)[] = [];
  const store = openWith(() => seen.push(context.getStore()));
  const create = (name: string, id: number) => context.run(name, () => store.createPlant('ada', { id, name }));
  await Promise.all(['Fern', 'Moss'].map(create));
  assert.deepEqual(seen, ['Fern+Moss']);
});
