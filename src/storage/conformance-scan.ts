import assert from 'node:assert/strict';
import { it } from 'node:test';
import { maxInt64, minInt64 } from '../int64.ts';
import { all, create, range, remove } from './conformance-cases.ts';
import type { Open } from './conformance-cases.ts';
import type { OwnedPlant, PlantKey, StorageAdapter } from './storage-adapter.ts';

/** In the order of their UTF-8, which is neither that of UTF-16 nor that of a dictionary. */
const sortedUsers = [' ', '%', "'", 'A', 'B', 'B ', 'a', 'aa', 'b', '\u007f', 'é', 'ü', '\ud7ff', '\ue000', '\uFFFD', '\uFFFF', '\u{10000}', '\u{1F33F}', '\u{10FFFF}'];

/** What the contract says of `scan`. */
export function testScan(open: Open): void {
  it('answers nothing where there is nothing', async (t) => {
    const storage = await open(t);
    assert.deepEqual(await storage.scan({ after: undefined, limit: 10 }), []);
    await storage.commit([create('ada', 1n)]);
    assert.equal((await storage.scan({ after: undefined, limit: 10 })).length, 1);
    await storage.commit([remove('ada', 1n)]);
    assert.deepEqual(await storage.scan({ after: undefined, limit: 10 }), []);
    assert.deepEqual(await storage.scan({ after: { user: 'ada', id: 1n }, limit: 10 }), []);
  });

  it('orders by the bytes of the user’s UTF-8, then by id over all of int64', async (t) => {
    const storage = await open(t);
    const ids = [minInt64, -(2n ** 53n) - 1n, -1n, 0n, 9n, 10n, 2n ** 53n + 1n, maxInt64];
    const sorted = sortedUsers.flatMap((user) => ids.map((id) => ({ user, id })));
    await storage.commit(sorted.toReversed().map(({ user, id }) => create(user, id)));
    assert.deepEqual((await storage.scan({ after: undefined, limit: 1000 })).map(keyOf), sorted);
    assert.deepEqual((await scanAll(storage, 7)).map(keyOf), sorted);
  });

  it('answers up to the limit, behind a key that is there or not', async (t) => {
    const storage = await open(t);
    const kept = [create('ada', 10n), create('ada', 20n), create('bob', minInt64), create('eve', 5n)];
    await storage.commit(kept);
    const scanned = async (user: string, id: bigint, limit = 10): Promise<string[]> =>
      (await storage.scan({ after: { user, id }, limit })).map((owned) => `${owned.user} ${owned.plant.id}`);
    const [a10, a20, b, e5] = ['ada 10', 'ada 20', `bob ${minInt64}`, 'eve 5'];
    assert.deepEqual(await scanned('ada', 10n), [a20, b, e5]);
    assert.deepEqual(await scanned('ada', 10n, 1), [a20]);
    assert.deepEqual(await scanned('ada', 15n, 2), [a20, b]);
    assert.deepEqual(await scanned('ada', 20n), [b, e5]);
    assert.deepEqual(await scanned('ada', maxInt64), [b, e5]);
    assert.deepEqual(await scanned('a', maxInt64), [a10, a20, b, e5]);
    assert.deepEqual(await scanned('ada!', minInt64), [b, e5]);
    assert.deepEqual(await scanned('bob', minInt64), [e5]);
    assert.deepEqual(await scanned('eve', 5n), []);
    assert.deepEqual(await scanned('\u{10FFFF}', maxInt64), []);
    assert.equal((await storage.scan({ after: undefined, limit: 2_147_483_647 })).length, 4);
  });

  it('pages through thousands of plants without losing or repeating one, while others come and go', async (t) => {
    const storage = await open(t);
    const kept = range(6000).map((n) => ({ user: `user ${n % 3}`, id: BigInt(n) * 3n }));
    for (let at = 0; at < kept.length; at += 1000) {
      await storage.commit(kept.slice(at, at + 1000).map(({ user, id }) => create(user, id)));
    }
    const seen: PlantKey[] = [];
    for (let after: PlantKey | undefined; ; ) {
      const page: PlantKey[] = (await storage.scan({ after, limit: 617 })).map(keyOf);
      seen.push(...page.filter(({ id }) => id % 3n === 0n));
      after = page.at(-1);
      if (after === undefined) break;
      const { user, id } = after;
      // One more user ahead at the most: with one at every page there would be no end.
      const others = user.endsWith('!') ? [] : [create(user, id - 1n), create('user', id - 1n), create(`${user}!`, id - 1n)];
      await storage.commit([remove(user, id - 2n), ...others]);
    }
    const sorted = range(3).flatMap((n) => kept.filter(({ user }) => user === `user ${n}`));
    assert.deepEqual(seen, sorted);
  });

  it('answers at least one plant a page, however long names are', async (t) => {
    const storage = await open(t);
    const owned = range(12).map((n) => ({ user: `user ${n % 2}`, plant: { id: BigInt(n), name: 'é'.repeat(n * 40_000), tag: `${n}` } }));
    for (const { user, plant } of owned) await storage.commit([{ kind: 'create', user, plant }]);
    const sorted = range(2).flatMap((n) => owned.filter(({ user }) => user === `user ${n}`));
    assert.deepEqual(await scanAll(storage, 1000), sorted);
    assert.deepEqual(await scanAll(storage, 1), sorted);
  });

  it('answers the same plants as list, names and tags as they are, and no tag where there is none', async (t) => {
    const storage = await open(t);
    const texts = ['', ' ', '"', '\\', '\\u0041', '\t\r\n\u0001\u007f\u0085\u2028', '\u{1F33F}', '\uFEFF', 'null'];
    const owned = texts.flatMap((text, n) => [
      { user: 'ada', plant: { id: BigInt(2 * n), name: text } },
      { user: 'ada', plant: { id: BigInt(2 * n + 1), name: 'x', tag: text } },
    ]);
    await storage.commit(owned.map(({ user, plant }) => ({ kind: 'create', user, plant })));
    assert.deepEqual(await storage.scan({ after: undefined, limit: 1000 }), owned);
    assert.deepEqual(await all(storage, 'ada'), owned.map(({ plant }) => plant));
  });

  it('answers fresh objects, which the caller may change', async (t) => {
    const storage = await open(t);
    await storage.commit([create('ada', 1n, 'Fern')]);
    const [owned] = await scanAll(storage, 10);
    assert.ok(owned);
    assert.equal(Object.getPrototypeOf(owned), Object.prototype);
    assert.equal(Object.getPrototypeOf(owned.plant), Object.prototype);
    owned.plant.name = 'changed';
    assert.deepEqual(await scanAll(storage, 10), [{ user: 'ada', plant: { id: 1n, name: 'Fern' } }]);
  });

  it('refuses after close with the code closed', async (t) => {
    const storage = await open(t);
    await storage.close();
    await assert.rejects(storage.scan({ after: undefined, limit: 1 }), { name: 'PlantStoreError', code: 'closed' });
  });
}

/** All plants of all users. A page may be short of the limit; only an empty one is the end. */
async function scanAll(storage: StorageAdapter, limit: number): Promise<OwnedPlant[]> {
  const found: OwnedPlant[] = [];
  for (let after: PlantKey | undefined; ; ) {
    const page = await storage.scan({ after, limit });
    assert.ok(page.length <= limit);
    const last = page.at(-1);
    if (last === undefined) return found;
    found.push(...page);
    after = keyOf(last);
  }
}

function keyOf({ user, plant }: OwnedPlant): PlantKey {
  return { user, id: plant.id };
}
