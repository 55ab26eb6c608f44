import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PlantStore } from '../../src/index.ts';
import { create } from '../../src/testing/plants.ts';
import { HookedStorage } from '../support/hooked-storage.ts';

/** What each page and each user count in addition to their text. */
const overhead = 256;
const name = 'Fern';
const pageSize = `[{"name":"${name}"}]`.length + overhead;

it('maxCacheBytes evicts the pages of the least recently used user, but only when not all pages fit', async () => {
  const storage = new HookedStorage();
  let reads = 0;
  storage.beforeList = () => {
    reads++;
    return setImmediate();
  };
  // Each character counts as two bytes.
  const store = new PlantStore({ storage, maxCacheBytes: 6 * ('ada'.length + overhead + pageSize) });
  /** Lists a user's first page, and returns whether the page was cached. */
  const isCached = async (user: string): Promise<boolean> => {
    const before = reads;
    await store.listPageJson(user, { limit: 1 });
    return reads === before;
  };
  await storage.commit(['ada', 'bob', 'eve', 'joe'].map((user) => create(1, user, name)));
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
});
