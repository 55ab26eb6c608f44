import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { PageCache } from '../../src/store/page-cache.ts';
import type { JsonPage } from '../../src/storage/storage-adapter.ts';

const all = 1000;
const pageOf = (json: string): JsonPage => ({ json, count: 1, last: 1n, hasMore: false });

function makeCache({ maxText = 100_000, version = { now: 1 } } = {}): PageCache {
  const cache = new PageCache({ maxText, dataVersion: () => version.now });
  cache.find('ada', all);
  return cache;
}

function keep(cache: PageCache, user: string, json: string, limit = all): void {
  cache.keep(user, limit, pageOf(json), cache.forgotten);
}

describe('PageCache', () => {
  it('finds the page of the same user and limit, and no other', () => {
    const cache = makeCache();
    keep(cache, 'ada', 'first');
    keep(cache, 'ada', 'one', 1);
    assert.equal(cache.find('ada', all)?.json, 'first');
    assert.equal(cache.find('ada', 1)?.json, 'one');
    assert.equal(cache.find('ada', 2), undefined);
    assert.equal(cache.find('bob', all), undefined);
  });

  it('forgets one user’s pages', () => {
    const cache = makeCache();
    keep(cache, 'ada', 'a');
    keep(cache, 'bob', 'b');
    cache.forget('ada');
    assert.equal(cache.find('ada', all), undefined);
    assert.equal(cache.find('bob', all)?.json, 'b');
  });

  it('does not keep a page that was read before something was forgotten', () => {
    const cache = makeCache();
    const { forgotten } = cache;
    cache.forget('ada');
    cache.keep('ada', all, pageOf('old'), forgotten);
    assert.equal(cache.find('ada', all), undefined);
  });

  it('drops everything in the turn after another process changed the storage', async () => {
    const version = { now: 1 };
    const cache = makeCache({ version });
    assert.equal(cache.find('ada', all), undefined);
    keep(cache, 'ada', 'a');
    await nextTurn();
    assert.equal(cache.find('ada', all)?.json, 'a');
    version.now = 2;
    await nextTurn();
    assert.equal(cache.find('ada', all), undefined);
  });

  it('keeps no more text than it may, and what was asked for last', () => {
    const cache = makeCache({ maxText: 3 * (1000 + 3 + 2 * 256) });
    const text = 'x'.repeat(1000);
    for (const user of ['ada', 'bob', 'eve']) keep(cache, user, text);
    assert.ok(cache.find('ada', all));
    keep(cache, 'joe', text);
    assert.equal(cache.find('bob', all), undefined);
    for (const user of ['ada', 'eve', 'joe']) assert.ok(cache.find(user, all), user);
  });

  it('counts a page that replaces another once, and empty pages too', () => {
    const cache = makeCache({ maxText: 5300 });
    for (let n = 0; n < 50; n++) keep(cache, 'ada', 'x'.repeat(1000));
    assert.ok(cache.find('ada', all));
    for (let n = 100; n < 200; n++) keep(cache, `user ${n}`, '');
    const kept = Array.from({ length: 100 }, (_, n) => cache.find(`user ${n + 100}`, all)).filter(
      (page) => page !== undefined,
    );
    assert.equal(kept.length, Math.floor(5300 / (2 * 256 + 'user 100'.length)));
  });

  it('counts the users whose pages it keeps, once each', () => {
    const cache = makeCache({ maxText: 10 * (255 + 2 * 256) });
    const users = Array.from({ length: 100 }, (_, n) => `${n}`.padStart(255, 'x'));
    for (const user of users) keep(cache, user, '');
    assert.equal(users.filter((user) => cache.find(user, all) !== undefined).length, 10);
    const other = makeCache({ maxText: 10 * 255 + 40 * 256 });
    for (const user of users.slice(0, 10)) for (const limit of [1, 2, 3]) keep(other, user, '', limit);
    assert.equal(users.filter((user) => other.find(user, 3) !== undefined).length, 10);
  });

  it('has room again for what it forgot', () => {
    const cache = makeCache({ maxText: 3100 });
    const text = 'x'.repeat(1000);
    for (let n = 0; n < 10; n++) {
      keep(cache, 'ada', text);
      cache.forget('ada');
    }
    for (const user of ['ada', 'bob']) keep(cache, user, text);
    for (const user of ['ada', 'bob']) assert.ok(cache.find(user, all), user);
  });

  it('keeps nothing that is larger than all it may keep', () => {
    const cache = makeCache({ maxText: 1400 });
    keep(cache, 'bob', 'b');
    keep(cache, 'ada', 'x'.repeat(1001));
    assert.equal(cache.find('ada', all), undefined);
  });
});
