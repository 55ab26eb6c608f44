import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { describe, it } from 'node:test';
import { PlantStore } from '../../src/index.ts';
import type { CommitMessage, StorageAdapter } from '../../src/index.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';

/** The async context in which a plant is created or the storage commits plants. */
const context = new AsyncLocalStorage<string>();

/** Opens a storage that fails to write a plant named `broken`, and records the context of each commit. */
function openFaulty() {
  const storage = new HookedStorage();
  const contexts: (string | undefined)[] = [];
  storage.beforeCommit = (writes) => {
    contexts.push(context.getStore());
    const names = writes.map((write) => (write.kind === 'create' ? write.plant.name : ''));
    if (names.includes('broken')) throw new Error('The disk failed');
  };
  return { storage, contexts };
}

/** Creates plants with these names concurrently. */
async function create(storage: StorageAdapter, ...names: string[]): Promise<void> {
  const store = new PlantStore({ storage });
  const created = names.map((name, id) => context.run(name, () => store.createPlant('ada', { id, name })));
  await Promise.allSettled(created);
}

describe('tracing channel plant-store:commit', () => {
  it('reports the number of writes and the error of each commit before the writes settle', async (t) => {
    const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
    const events = eventsOf(t, 'plant-store:commit');
    await create(openFaulty().storage, 'Fern', 'Moss', 'Ivy');
    assert.deepEqual(events.splice(0), ['start', 'end', 'asyncStart', 'asyncEnd']);
    await create(openFaulty().storage, 'broken');
    assert.deepEqual(events, ['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
    assert.deepEqual(
      messages.map(({ writes, error }) => `${writes} ${error?.code ?? 'ok'}`),
      ['3 ok', '1 storage_unavailable'],
    );
    for (const { durationMs } of messages) assert.ok(durationMs > 0 && durationMs < performance.now());
  });

  it('provides the async contexts of the writes in a commit, and runs the commit in the context that a subscriber binds', async (t) => {
    const { start } = tracingChannel<unknown, CommitMessage>('plant-store:commit');
    start.bindStore(context, ({ contexts }) => contexts.map((run) => run(() => context.getStore())).join('+'));
    t.after(() => start.unbindStore(context));
    const { storage, contexts } = openFaulty();
    await create(storage, 'Fern', 'Moss');
    assert.deepEqual(contexts, ['Fern+Moss']);
  });
});
