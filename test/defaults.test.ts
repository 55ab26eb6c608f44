import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage, PlantStore } from '../src/index.ts';
import type { ListRange } from '../src/adapter.ts';
import { SqliteStorage } from '../src/sqlite.ts';
import { heldStorage } from './support/held-storage.ts';
import { createFetchService } from './support/service.ts';
import { createPlants } from './support/stored-plants.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { create } from './support/writes.ts';

/** The values are those in docs/http-api.md. */
describe('default', () => {
  it('maxPendingWrites is 10,000', async () => {
    const { storage, release } = heldStorage();
    const store = new PlantStore({ storage });
    const creates = Array.from({ length: 10_000 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' }));
    const refused = assert.rejects(store.createPlant('ada', { id: -1, name: 'Fern' }), { code: 'saturated' });
    release();
    await Promise.all([...creates, refused]);
  });

  it('maxInFlight is 1000', async (t) => {
    const { storage, release } = heldStorage({ lists: true });
    const service = createFetchService(t, { storage, authenticate: (user) => ({ user }) });
    const lists = Array.from({ length: 1001 }, async (_, n) => {
      return (await service.call('GET', '/plants', { token: `user-${n}` })).status;
    });
    await nextTurn();
    release();
    assert.deepEqual(await Promise.all(lists), [...Array<number>(1000).fill(200), 503]);
  });

  it('maxCacheBytes is 16 MiB', async () => {
    // Each page contains one plant. The cache counts two bytes per character, and a small overhead.
    for (const [length, reads] of [
      [4_190_000, 2],
      [4_195_000, 4],
    ] as const) {
      const storage = new MemoryStorage();
      const list = storage.list.bind(storage);
      let count = 0;
      storage.list = (user: string, range: ListRange) => (count++, list(user, range));
      const store = new PlantStore({ storage });
      const users = ['ada', 'bob'];
      for (const user of users) await createPlants(store, 1, 'x'.repeat(length), user);
      for (const user of [...users, ...users]) await store.listPageJson(user);
      assert.equal(count, reads);
    }
  });

  it('busyTimeoutMs is 5000', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    const storage = new SqliteStorage(path);
    t.after(() => storage.close());
    const other = new DatabaseSync(path);
    t.after(() => {
      other.close();
    });
    other.exec('BEGIN IMMEDIATE');
    // The first time is the beginning of the commit. The others are the ends of its two attempts.
    const times = [0, 4999, 5000];
    const { mock } = t.mock.method(performance, 'now', () => times.shift() ?? Infinity);
    await assert.rejects(storage.commit([create(1)]), /locked/);
    assert.equal(mock.callCount(), 3);
  });
});
