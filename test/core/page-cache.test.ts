import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PageCache } from '../../src/core/page-cache.ts';

const text = 'x'.repeat(1000);
/** The size that the cache counts for a page with this text. */
const pageSize = 1000 + 256;
/** The size that the cache counts for a user whose name has three letters. */
const userSize = 3 + 256;

interface TestCache {
  readonly cache: PageCache;
  readonly version: { now: number };
  readonly add: (user: string, json?: string, limit?: number) => void;
  /** Returns the JSON of a cached page, or `undefined` if the page is not cached. */
  readonly find: (user: string, limit?: number) => string | undefined;
}

function openCache(maxText = 100_000): TestCache {
  const version = { now: 1 };
  const cache = new PageCache({ maxText, dataVersion: () => version.now });
  return {
    cache,
    version,
    add: (user, json = text, limit = 10) => {
      cache.add({ user, after: undefined, limit }, { json, count: 1, last: 1n, hasMore: false });
    },
    find: (user, limit = 10) => cache.get({ user, after: undefined, limit })?.json,
  };
}

describe('PageCache', () => {
  it('evicts the pages of the least recently used user, but only when not all pages fit', () => {
    const { add, find } = openCache(3 * (userSize + pageSize));
    // A page that is added again is counted only once.
    for (const user of ['ada', 'ada', 'bob', 'eve']) add(user);
    assert.equal(find('ada'), text);
    add('joe');
    assert.deepEqual(
      ['ada', 'bob', 'eve', 'joe'].map((user) => find(user)),
      [text, undefined, text, text],
    );
  });

  it('counts the size of empty pages, and counts the name of a user once for all pages of the user', () => {
    const users = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(255, 'x'));
    for (const limits of [[1], [1, 2, 3]]) {
      const { add, find } = openCache(10 * (255 + 256 + 256 * limits.length));
      for (const user of users) for (const limit of limits) add(user, '', limit);
      assert.equal(users.filter((user) => find(user, 1) !== undefined).length, 10);
    }
  });

  it('reuses the space of pages that were removed after a write or a version change', () => {
    for (const isWrite of [true, false]) {
      const { cache, version, add, find } = openCache(2 * (userSize + pageSize));
      for (let n = 0; n < 10; n++) {
        add('ada');
        if (isWrite) cache.forget('ada');
        else version.now++;
        cache.checkVersion();
        assert.equal(find('ada'), undefined);
      }
      for (const user of ['ada', 'bob']) add(user);
      for (const user of ['ada', 'bob']) assert.equal(find(user), text);
    }
  });
});
