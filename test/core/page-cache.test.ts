import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PlantStore } from '../../src/index.ts';
import { create } from '../../src/testing/plants.ts';
import { HookedStorage } from '../support/hooked-storage.ts';

const nameLength = 100_000;

it("page cache › evicts the least recently used user's pages when the pages exceed maxCacheBytes", async () => {
  const storage = new HookedStorage();
  let reads = 0;
  storage.beforeList = () => {
    reads++;
    return setImmediate();
  };
  // Three pages fit, because each character counts as two bytes.
  const store = new PlantStore({ storage, maxCacheBytes: 7 * nameLength });
  /** Lists a user's first page, and returns whether the page was cached. */
  const isCached = async (user: string): Promise<boolean> => {
    const before = reads;
    await store.listPageJson(user, { limit: 1 });
    return reads === before;
  };
  await storage.commit(['ada', 'bob', 'eve', 'joe'].map((user) => create(1, user, 'x'.repeat(nameLength))));
  // A page that is read twice at the same time is counted once.
  await Promise.all([isCached('ada'), setImmediate().then(() => isCached('ada'))]);
  for (const user of ['bob', 'eve']) assert.equal(await isCached(user), false);
  assert.equal(await isCached('ada'), true);
  assert.equal(await isCached('joe'), false);
  for (const user of ['ada', 'eve', 'joe']) assert.equal(await isCached(user), true, user);
  assert.equal(await isCached('bob'), false);

  // The space of pages that were removed after a write or a commit of another process is used again.
  for (let n = 0; n < 10; n++) {
    if (n < 5) storage.version++;
    else await store.deletePlant('bob', 2);
    assert.equal(await isCached('bob'), false);
  }
  for (const user of ['ada', 'eve']) assert.equal(await isCached(user), false, user);
  for (const user of ['ada', 'bob', 'eve']) assert.equal(await isCached(user), true, user);

  // Users without plants also need memory.
  for (let n = 0; n < 2000; n++) await isCached(`user ${n}`);
  assert.equal(await isCached('user 0'), false);
});
