import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlantStore } from '../src/index.ts';
import { Hold, HookedStorage } from './support/hooked-storage.ts';
import { createFetchService } from './support/service.ts';

// The values are those in docs/http-api.md.

it('maxPendingWrites is 10,000 by default', async () => {
  const held = new Hold();
  const storage = new HookedStorage();
  storage.beforeCommit = held.hook;
  const store = new PlantStore({ storage });
  const creates = Array.from({ length: 10_000 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' }));
  const refused = assert.rejects(store.createPlant('ada', { id: -1, name: 'Fern' }), { code: 'saturated' });
  held.release();
  await Promise.all([...creates, refused]);
});

it('maxInFlight is 1000 by default', async (t) => {
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
