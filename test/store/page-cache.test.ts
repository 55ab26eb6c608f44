import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { PageCache } from '../../src/store/page-cache.ts';
import type { JsonPage } from '../../src/storage/storage-adapter.ts';

const all = 1000;
const pageOf = (json: string): JsonPage => ({ json, count: 1, last: 1n, hasMore: false });

function makeCache({ maxText = 100_000, version = { now: 1 } } = {}): PageCache {
  return new PageCache({ maxText, dataVersion: () => version.now });
}

/** Returns the JSON of a cached page, or `undefined` if the page is not cached. */
async function find(cache: PageCache, user: string, limit = all): Promise<string | undefined> {
  try {
    return (await cache.read(user, limit, () => Promise.reject(new Error('not cached')))).json;
  } catch {
    return undefined;
  }
}

/** Reads a page into the cache. */
async function add(cache: PageCache, user: string, json: string, limit = all): Promise<void> {
  await cache.read(user, limit, () => Promise.resolve(pageOf(json)));
}

describe('PageCache', () => {
  it('returns the cached page of the same user and limit, and no other', async () => {
    const cache = makeCache();
    await add(cache, 'ada', 'first');
    await add(cache, 'ada', 'one', 1);
    assert.equal(await find(cache, 'ada'), 'first');
    assert.equal(await find(cache, 'ada', 1), 'one');
    assert.equal(await find(cache, 'ada', 2), undefined);
    assert.equal(await find(cache, 'bob'), undefined);
  });

  it('removes the pages of one user', async () => {
    const cache = makeCache();
    await add(cache, 'ada', 'a');
    await add(cache, 'bob', 'b');
    cache.forget('ada');
    assert.equal(await find(cache, 'ada'), undefined);
    assert.equal(await find(cache, 'bob'), 'b');
  });

  it('does not cache a page that was being read when pages were removed', async () => {
    const cache = makeCache();
    const loading = Promise.withResolvers<JsonPage>();
    const page = cache.read('ada', all, () => loading.promise);
    cache.forget('ada');
    loading.resolve(pageOf('old'));
    assert.equal((await page).json, 'old');
    assert.equal(await find(cache, 'ada'), undefined);
  });

  it('removes all pages in the event loop iteration after another process changed the storage', async () => {
    const version = { now: 1 };
    const cache = makeCache({ version });
    await add(cache, 'ada', 'a');
    await nextTurn();
    assert.equal(await find(cache, 'ada'), 'a');
    version.now = 2;
    await nextTurn();
    assert.equal(await find(cache, 'ada'), undefined);
  });

  it('evicts the least recently used user', async () => {
    const cache = makeCache({ maxText: 3 * (1000 + 3 + 2 * 256) });
    const text = 'x'.repeat(1000);
    for (const user of ['ada', 'bob', 'eve']) await add(cache, user, text);
    assert.equal(await find(cache, 'ada'), text);
    await add(cache, 'joe', text);
    assert.equal(await find(cache, 'bob'), undefined);
    for (const user of ['ada', 'eve', 'joe']) assert.equal(await find(cache, user), text, user);
  });

  it('counts a page that is read twice at once only once', async () => {
    const cache = makeCache({ maxText: 5300 });
    const text = 'x'.repeat(1000);
    await Promise.all(Array.from({ length: 50 }, () => add(cache, 'ada', text)));
    assert.equal(await find(cache, 'ada'), text);
    for (const user of ['bob', 'eve']) await add(cache, user, text);
    for (const user of ['ada', 'bob', 'eve']) assert.equal(await find(cache, user), text, user);
  });

  it('counts empty pages and the names of users', async () => {
    const cache = makeCache({ maxText: 10 * (255 + 2 * 256) });
    const users = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(255, 'x'));
    for (const user of users) await add(cache, user, '');
    const cached = await Promise.all(users.map((user) => find(cache, user)));
    assert.equal(cached.filter((page) => page !== undefined).length, 10);
  });

  it('counts a user with several pages once', async () => {
    const cache = makeCache({ maxText: 10 * 255 + 40 * 256 });
    const users = Array.from({ length: 10 }, (_, n) => `${n}`.padStart(255, 'x'));
    for (const user of users) for (const limit of [1, 2, 3]) await add(cache, user, '', limit);
    for (const user of users) assert.equal(await find(cache, user, 3), '', user);
  });

  it('reuses the space of removed pages', async () => {
    const cache = makeCache({ maxText: 3100 });
    const text = 'x'.repeat(1000);
    for (let n = 0; n < 10; n++) {
      await add(cache, 'ada', text);
      cache.forget('ada');
    }
    for (const user of ['ada', 'bob']) await add(cache, user, text);
    for (const user of ['ada', 'bob']) assert.equal(await find(cache, user), text, user);
  });

  it('does not cache a page that exceeds the maximum size', async () => {
    const cache = makeCache({ maxText: 1400 });
    await add(cache, 'ada', 'x'.repeat(1001));
    assert.equal(await find(cache, 'ada'), undefined);
  });
});
