import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { it } from 'node:test';
import { PlantStore } from '../../src/index.ts';
import type { CommitMessage } from '../../src/index.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';

it('plant-store:commit reports the writes and the error of each commit before the writes settle', async (t) => {
  const startMs = performance.now();
  const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
  const events = eventsOf(t, 'plant-store:commit');
  const storage = new HookedStorage();
  const store = new PlantStore({ storage });
  await Promise.all([1, 2, 3].map((id) => store.createPlant('ada', { id, name: '' })));
  assert.deepEqual(events.splice(0), ['start', 'end', 'asyncStart', 'asyncEnd']);
  storage.beforeCommit = () => Promise.reject(new Error('The disk failed'));
  await assert.rejects(store.createPlant('ada', { id: 4, name: '' }));
  assert.deepEqual(events, ['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
  assert.deepEqual(
    messages.map(({ writes, error }) => ({ writes, code: error?.code })),
    [
      { writes: 3, code: undefined },
      { writes: 1, code: 'storage_unavailable' },
    ],
  );
  const elapsedMs = performance.now() - startMs;
  for (const { durationMs } of messages) assert.ok(durationMs > 0 && durationMs < elapsedMs);
});

it('plant-store:commit publishes each event even if only that event has a subscriber', async (t) => {
  for (const event of ['start', 'asyncEnd', 'error'] as const) {
    await t.test(event, async (subtest) => {
      const events = eventsOf(subtest, 'plant-store:commit', [event]);
      const storage = new HookedStorage();
      storage.beforeCommit = () => Promise.reject(new Error('The disk failed'));
      await assert.rejects(new PlantStore({ storage }).createPlant('ada', { id: 1, name: '' }));
      assert.deepEqual(events, [event]);
    });
  }
});

it('plant-store:commit provides the contexts of the writes, and runs in the context of a subscriber', async (t) => {
  const context = new AsyncLocalStorage<string>();
  const { start } = tracingChannel<unknown, CommitMessage>('plant-store:commit');
  start.bindStore(context, ({ contexts }) => contexts.map((run) => run(() => context.getStore())).join('+'));
  t.after(() => start.unbindStore(context));
  const storage = new HookedStorage();
  const seen: (string | undefined)[] = [];
  storage.beforeCommit = () => seen.push(context.getStore());
  const store = new PlantStore({ storage });
  const create = (name: string, id: number): Promise<unknown> =>
    context.run(name, () => store.createPlant('ada', { id, name }));
  await Promise.all(['Fern', 'Moss'].map(create));
  assert.deepEqual(seen, ['Fern+Moss']);
});

it('a PlantStore calls the storage in a context of no request, and settles each call in its own', async () => {
  const context = new AsyncLocalStorage<number>();
  const storage = new HookedStorage();
  const seen: unknown[] = [];
  storage.beforeCommit = storage.beforeList = () => seen.push(context.getStore());
  const store = new PlantStore({ storage });
  const request = async (id: number): Promise<void> => {
    await store.createPlant('ada', { id, name: '' });
    assert.equal(context.getStore(), id);
    await store.listPageJson('ada', { after: id });
    assert.equal(context.getStore(), id);
  };
  await Promise.all([1, 2, 3].map((id) => context.run(id, () => request(id))));
  assert.ok(seen.length >= 4);
  assert.deepEqual(new Set(seen), new Set([undefined]));
  for (let id = 4; id < 7; id++) {
    // Later requests are alone, and do not wait for the end of the iteration.
    await new Promise((resolve) => setImmediate(resolve));
    await context.run(id, () => request(id));
  }
  assert.deepEqual(new Set(seen), new Set([undefined]));
});
