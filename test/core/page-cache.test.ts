import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PageCache } from '../../src/core/page-cache.ts';
import type { JsonPage } from '../../src/storage/storage-adapter.ts';
import { request } from '../support/batch-storage.ts';

const all = 1000;
const pageOf = (json: string): JsonPage => ({ json, count: 1, last: 1n, hasMore: false });

function makeCache({ maxText = 100_000, version = { now: 1 } } = {}): PageCache {
  return new PageCache({ maxText, dataVersion: () => version.now });
}

/** Returns the JSON of a cached page, or `undefined` if the page is not cached. */
function find(cache: PageCache, user: string, limit = all): string | undefined {
  return cache.get(request(user, limit))?.json;
}

function add(cache: PageCache, user: string, json: string, limit = all): void {
  cache.add(request(user, limit), pageOf(json));
}

describe('PageCache', () => {
  it('returns the cached page of the same user and limit, and no other', () => {
    const cache = makeCache();
    add(cache, 'ada', 'first');
    add(cache, 'ada', 'one', 1);
    assert.equal(find(cache, 'ada'), 'first');
    assert.equal(find(cache, 'ada', 1), 'one');
    assert.equal(find(cache, 'ada', 2), undefined);
    assert.equal(find(cache, 'bob'), undefined);
  });

  it('removes all pages when another process has changed the storage, and counts each removal', () => {
    const version = { now: 1 };
    const cache = makeCache({ version });
    cache.checkVersion();
    const before = cache.changes;
    for (const user of ['ada', 'bob']) add(cache, user, user);
    cache.checkVersion();
    assert.deepEqual([find(cache, 'ada'), cache.changes], ['ada', before]);
    version.now = 2;
    cache.checkVersion();
    for (const user of ['ada', 'bob']) assert.equal(find(cache, user), undefined);
    assert.equal(cache.changes, before + 1);
    cache.forget('ada');
    assert.equal(cache.changes, before + 2);
  });

  it('evicts the least recently used user', () => {
    const cache = makeCache({ maxText: 3 * (1000 + 3 + 2 * 256) });
    const text = 'x'.repeat(1000);
    for (const user of ['ada', 'bob', 'eve']) add(cache, user, text);
    assert.equal(find(cache, 'ada'), text);
    add(cache, 'joe', text);
    assert.equal(find(cache, 'bob'), undefined);
    for (const user of ['ada', 'eve', 'joe']) assert.equal(find(cache, user), text, user);
  });

  it('counts a page that is added again only once', () => {
    const cache = makeCache({ maxText: 5300 });
    const text = 'x'.repeat(1000);
    for (let n = 0; n < 50; n++) add(cache, 'ada', text);
    assert.equal(find(cache, 'ada'), text);
    for (const user of ['bob', 'eve']) add(cache, user, text);
    for (const user of ['ada', 'bob', 'eve']) assert.equal(find(cache, user), text, user);
  });

  it('counts empty pages and the name of a user, which is counted once for several pages', () => {
    const users = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(255, 'x'));
    for (const [limits, maxText] of [
      [[1], 10 * (255 + 2 * 256)],
      [[1, 2, 3], 10 * (255 + 4 * 256)],
    ] as const) {
      const cache = makeCache({ maxText });
      for (const user of users) for (const limit of limits) add(cache, user, '', limit);
      assert.equal(users.filter((user) => find(cache, user, 1) !== undefined).length, 10);
    }
  });

  const removals: Readonly<Record<string, (cache: PageCache, version: { now: number }) => void>> = {
    'removed pages of a user': (cache) => {
      cache.forget('ada');
    },
    'pages that were removed because of a new version': (cache, version) => {
      version.now++;
      cache.checkVersion();
    },
  };
  for (const [what, removePages] of Object.entries(removals)) {
    it(`reuses the space of ${what}`, () => {
      const version = { now: 1 };
      const cache = makeCache({ maxText: 3100, version });
      const text = 'x'.repeat(1000);
      for (let n = 0; n < 10; n++) {
        add(cache, 'ada', text);
        removePages(cache, version);
      }
      for (const user of ['ada', 'bob']) add(cache, user, text);
      for (const user of ['ada', 'bob']) assert.equal(find(cache, user), text, user);
    });
  }

  it('does not cache a page that exceeds the maximum size', () => {
    const cache = makeCache({ maxText: 1400 });
    add(cache, 'ada', 'x'.repeat(1001));
    assert.equal(find(cache, 'ada'), undefined);
  });
});
