import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { CommitMessage, CreateMessage, DeleteMessage } from '../../src/index.ts';
import { messagesOf, withoutDuration } from '../support/messages.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { sourceUrl } from '../support/sources.ts';

const fern = { id: 7, name: 'Fern' };

/** A storage that holds no plant named `unstorable`, and fails to write one named `broken`. */
class FaultyStorage extends MemoryStorage {
  override async commit(...[writes]: Parameters<MemoryStorage['commit']>): Promise<boolean[]> {
    const names = writes.map((write) => (write.kind === 'create' ? write.plant.name : ''));
    if (names.includes('unstorable')) throw new PlantStoreError('invalid_plant');
    if (names.includes('broken')) throw new Error('The disk failed');
    return super.commit(writes);
  }
}

describe('channel plant-store:create', () => {
  it('receives the user, the id and the error code of each create', async (t) => {
    const messages = messagesOf<CreateMessage>(t, 'plant-store:create');
    const store = new PlantStore({ storage: new FaultyStorage() });
    await store.createPlant('ada', fern);
    await assert.rejects(store.createPlant('ada', fern), { code: 'id_taken' });
    await assert.rejects(store.createPlant('ada', { id: 8n, name: 'unstorable' }), { code: 'invalid_plant' });
    await assert.rejects(store.createPlant('ada', { id: 9n, name: 'broken' }), { code: 'storage_unavailable' });
    await store.close();
    await assert.rejects(store.createPlant('bob', fern), { code: 'closed' });
    assert.deepEqual(withoutDuration(messages), [
      { user: 'ada', id: 7n, error: undefined },
      { user: 'ada', id: 7n, error: 'id_taken' },
      { user: 'ada', id: 8n, error: 'invalid_plant' },
      { user: 'ada', id: 9n, error: 'storage_unavailable' },
      { user: 'bob', id: 7n, error: 'closed' },
    ]);
  });

  it('receives saturated, but no create with an invalid user or plant', async (t) => {
    const messages = messagesOf<CreateMessage>(t, 'plant-store:create');
    const store = new PlantStore({ storage: new MemoryStorage(), maxPendingWrites: 1 });
    await assert.rejects(store.createPlant('', fern), { code: 'invalid_user' });
    await assert.rejects(store.createPlant('ada', { id: 1.5, name: 'Fern' }), { code: 'invalid_plant' });
    const first = store.createPlant('ada', fern);
    await assert.rejects(store.createPlant('ada', { id: 8, name: 'Moss' }), { code: 'saturated' });
    await first;
    assert.deepEqual(
      messages.map(({ id, error = '' }) => `${id} ${error}`),
      ['8 saturated', '7 '],
    );
    await store.close();
  });

  it('has the message before the promise of the create resolves', async (t) => {
    const messages = messagesOf<CreateMessage>(t, 'plant-store:create');
    const store = new PlantStore({ storage: new MemoryStorage() });
    assert.equal(await store.createPlant('ada', fern).then(() => messages.length), 1);
    await store.close();
  });
});

describe('channel plant-store:delete', () => {
  it('receives the user, the id, whether the plant existed, and the error code of each delete', async (t) => {
    const messages = messagesOf<DeleteMessage>(t, 'plant-store:delete');
    const store = new PlantStore({ storage: new MemoryStorage() });
    await store.createPlant('ada', fern);
    await store.deletePlant('ada', 7);
    await store.deletePlant('ada', 7);
    await assert.rejects(store.deletePlant('ada', 1.5), { code: 'invalid_id' });
    await store.close();
    await assert.rejects(store.deletePlant('ada', 7), { code: 'closed' });
    assert.deepEqual(withoutDuration(messages), [
      { user: 'ada', id: 7n, existed: true, error: undefined },
      { user: 'ada', id: 7n, existed: false, error: undefined },
      { user: 'ada', id: 7n, existed: false, error: 'closed' },
    ]);
  });
});

describe('channel plant-store:commit', () => {
  it('receives the number of writes and the error code of each commit', async (t) => {
    const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
    const store = new PlantStore({ storage: new FaultyStorage() });
    await Promise.all([1, 2, 3].map((id) => store.createPlant('ada', { id, name: 'Fern' })));
    await assert.rejects(store.createPlant('ada', { id: 4, name: 'broken' }), { code: 'storage_unavailable' });
    await store.deletePlant('ada', 1);
    assert.deepEqual(withoutDuration(messages), [
      { writes: 3, error: undefined },
      { writes: 1, error: 'storage_unavailable' },
      { writes: 1, error: undefined },
    ]);
    await store.close();
  });

  it('receives the commits of the halves of a batch that contains an unstorable plant', async (t) => {
    const messages = messagesOf<CommitMessage>(t, 'plant-store:commit');
    const store = new PlantStore({ storage: new FaultyStorage() });
    const names = ['Fern', 'unstorable'];
    await Promise.allSettled(names.map((name, id) => store.createPlant('ada', { id, name })));
    assert.deepEqual(withoutDuration(messages), [
      { writes: 2, error: 'invalid_plant' },
      { writes: 1, error: undefined },
      { writes: 1, error: 'invalid_plant' },
    ]);
    await store.close();
  });
});

describe('subscriber of a channel', () => {
  it('does not affect the write if it throws, and Node.js emits uncaughtException', async () => {
    const code = `
      import { subscribe } from 'node:diagnostics_channel';
      import { MemoryStorage, PlantStore } from '${sourceUrl('index.ts')}';
      process.on('uncaughtException', ({ message }) => console.log('uncaught:', message));
      for (const name of ['create', 'commit', 'delete']) {
        subscribe('plant-store:' + name, () => { throw new Error(name); });
      }
      const store = new PlantStore({ storage: new MemoryStorage() });
      console.log(await store.createPlant('ada', { id: 7, name: 'Fern' }));
      console.log(await store.deletePlant('ada', 7));
      await store.close();`;
    const stdout = await runSuccessfully(process.execPath, evalArgs(code));
    assert.deepEqual(stdout.trimEnd().split('\n').sort(), [
      'true',
      'uncaught: commit',
      'uncaught: commit',
      'uncaught: create',
      'uncaught: delete',
      "{ id: 7n, name: 'Fern' }",
    ]);
  });
});
