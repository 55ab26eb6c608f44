import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { CommitMessage } from '../../src/index.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { sourceUrl } from '../support/sources.ts';

/** A storage that holds no plant named `unstorable`, and fails to write one named `broken`. */
class FaultyStorage extends MemoryStorage {
  override async commit(...[writes]: Parameters<MemoryStorage['commit']>): Promise<boolean[]> {
    const names = writes.map((write) => (write.kind === 'create' ? write.plant.name : ''));
    if (names.includes('unstorable')) throw new PlantStoreError('invalid_plant');
    if (names.includes('broken')) throw new Error('The disk failed');
    return super.commit(writes);
  }
}

/** Returns the number of writes and the error code of each commit. Asserts that each duration is one. */
function summaries(messages: readonly CommitMessage[]): string[] {
  for (const { durationMs } of messages) assert.ok(durationMs > 0);
  return messages.map(({ writes, error }) => `${writes} ${error?.code ?? 'ok'}`);
}

describe('tracing channel plant-store:commit', () => {
  it('has the number of writes and the error of each commit', async (t) => {
    const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
    const store = new PlantStore({ storage: new FaultyStorage() });
    await Promise.all([1, 2, 3].map((id) => store.createPlant('ada', { id, name: 'Fern' })));
    await assert.rejects(store.createPlant('ada', { id: 4, name: 'broken' }), { code: 'storage_unavailable' });
    await store.deletePlant('ada', 1);
    assert.deepEqual(summaries(messages), ['3 ok', '1 storage_unavailable', '1 ok']);
    await store.close();
  });

  it('has the commits of the halves of a batch that contains an unstorable plant', async (t) => {
    const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
    const store = new PlantStore({ storage: new FaultyStorage() });
    const names = ['Fern', 'unstorable'];
    await Promise.allSettled(names.map((name, id) => store.createPlant('ada', { id, name })));
    assert.deepEqual(summaries(messages), ['2 invalid_plant', '1 ok', '1 invalid_plant']);
    await store.close();
  });

  it('publishes the events of tracePromise, before the write settles', async (t) => {
    const events = eventsOf(t, 'plant-store:commit');
    const store = new PlantStore({ storage: new FaultyStorage() });
    const succeeded = ['start', 'end', 'asyncStart', 'asyncEnd'];
    assert.deepEqual(await store.deletePlant('ada', 1).then(() => events.splice(0)), succeeded);
    await store.createPlant('ada', { id: 4, name: 'broken' }).catch(() => undefined);
    assert.deepEqual(events, ['start', 'end', 'error', 'asyncStart', 'asyncEnd']);
    await store.close();
  });

  it('has the async contexts of the writes that share the commit, and runs the commit in its own', async (t) => {
    const context = new AsyncLocalStorage<string>();
    const { start } = tracingChannel<unknown, CommitMessage>('plant-store:commit');
    const inStorage: (string | undefined)[] = [];
    class ContextStorage extends MemoryStorage {
      override commit(...[writes]: Parameters<MemoryStorage['commit']>): Promise<boolean[]> {
        inStorage.push(context.getStore());
        return super.commit(writes);
      }
    }
    const callersOf = (message: unknown): string =>
      (message as CommitMessage).contexts.map((run) => run(() => context.getStore())).join('+');
    start.bindStore(context, callersOf);
    t.after(() => start.unbindStore(context));
    const store = new PlantStore({ storage: new ContextStorage() });
    const create = (id: number): Promise<unknown> =>
      context.run(`request ${id}`, () => store.createPlant('ada', { id, name: 'Fern' }));
    await Promise.all([create(1), create(2)]);
    assert.deepEqual(inStorage, ['request 1+request 2']);
    await store.close();
  });

  it('does not affect the write if a subscriber throws, and Node.js emits uncaughtException', async () => {
    const code = `
      import { subscribe } from 'node:diagnostics_channel';
      import { MemoryStorage, PlantStore } from '${sourceUrl('index.ts')}';
      process.on('uncaughtException', ({ message }) => console.log('uncaught:', message));
      for (const name of ['start', 'asyncEnd']) {
        subscribe('tracing:plant-store:commit:' + name, () => { throw new Error(name); });
      }
      const store = new PlantStore({ storage: new MemoryStorage() });
      console.log(await store.deletePlant('ada', 7));
      await store.close();`;
    const stdout = await runSuccessfully(process.execPath, evalArgs(code));
    assert.deepEqual(stdout.trimEnd().split('\n').sort(), ['false', 'uncaught: asyncEnd', 'uncaught: start']);
  });
});
