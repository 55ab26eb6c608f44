import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage, PlantStore } from '../src/index.ts';
import { SqliteStorage } from '../src/sqlite.ts';
import { Hold, HookedStorage } from './support/hooked-storage.ts';
import { holdDatabase } from './support/hold-database.ts';
import { createFetchService } from './support/service.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { create } from './support/writes.ts';

/** The values are those in docs/http-api.md. */
describe('default', () => {
  it('maxPendingWrites is 10,000', async () => {
    const held = new Hold();
    const storage = new HookedStorage();
    storage.beforeCommit = held.hook;
    const store = new PlantStore({ storage });
    const creates = Array.from({ length: 10_000 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' }));
    const refused = assert.rejects(store.createPlant('ada', { id: -1, name: 'Fern' }), { code: 'saturated' });
    held.release();
    await Promise.all([...creates, refused]);
  });

  it('maxCacheBytes is 16 MiB', async (t) => {
    const storage = new MemoryStorage();
    const reads = t.mock.method(storage, 'list').mock;
    const store = new PlantStore({ storage });
    // Of this size, 64 pages fit, with the overhead for each page and each user.
    const name = 'x'.repeat(130_540);
    const users = Array.from({ length: 65 }, (_, n) => `user-${n}`);
    for (const user of users) await store.createPlant(user, { id: 1, name });
    const list = (user = '') => store.listPageJson(user, { limit: 1 });
    for (const user of users.slice(0, 64)) await list(user);
    for (const user of users.slice(0, 64)) await list(user);
    assert.equal(reads.callCount(), 64);
    await list(users[64]);
    await list(users[0]);
    assert.equal(reads.callCount(), 66);
  });

  it('busyTimeoutMs is 5000', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    const storage = new SqliteStorage(path);
    t.after(() => storage.close());
    await holdDatabase(t, path, 'BEGIN IMMEDIATE', 60_000);
    const startMs = performance.now();
    await assert.rejects(storage.commit([create(1)]), /locked/);
    const waitedMs = performance.now() - startMs;
    assert.ok(waitedMs >= 5000 && waitedMs < 7000, `${waitedMs} ms`);
  });

  it('maxInFlight is 1000', async (t) => {
    const held = new Hold();
    const storage = new HookedStorage();
    storage.beforeList = held.hook;
    const service = createFetchService(t, { storage, authenticate: (user) => ({ user }) });
    const lists = Array.from({ length: 1001 }, async (_, n) => {
      return (await service.call('GET', '/plants', { token: `user-${n}` })).status;
    });
    await nextTurn();
    held.release();
    assert.deepEqual(await Promise.all(lists), [...Array<number>(1000).fill(200), 503]);
  });
});
