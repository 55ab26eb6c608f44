import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { maxInt64, minInt64 } from '../int64.ts';
import type { StoredPlant } from '../plant.ts';
import type { StorageAdapter, Write } from './storage-adapter.ts';

/** Opens an adapter on a place of its own; it is closed after the test. */
export type Open = (t: TestContext) => Promise<StorageAdapter>;

/** What the contract says of `commit`. */
export function testCommit(open: Open): void {
  it('answers of a create whether the plant is new, and leaves a plant that is there as it is', async (t) => {
    const storage = await open(t);
    assert.deepEqual(await storage.commit([create('ada', 1n, 'Fern', 'indoor')]), [true]);
    assert.deepEqual(await storage.commit([create('ada', 1n, 'Moss')]), [false]);
    assert.deepEqual(await all(storage, 'ada'), [{ id: 1n, name: 'Fern', tag: 'indoor' }]);
  });

  it('answers of a delete whether the plant was there', async (t) => {
    const storage = await open(t);
    await storage.commit([create('ada', 1n)]);
    assert.deepEqual(await storage.commit([remove('ada', 1n)]), [true]);
    assert.deepEqual(await storage.commit([remove('ada', 1n)]), [false]);
    assert.deepEqual(await all(storage, 'ada'), []);
    assert.deepEqual(await storage.commit([create('ada', 1n, 'again')]), [true]);
  });

  it('answers a batch in its order, creates and deletes of several users mixed', async (t) => {
    const storage = await open(t);
    await storage.commit([create('ada', 1n), create('bob', 2n)]);
    const batch = [remove('bob', 1n), create('ada', 2n), create('ada', 1n), remove('bob', 2n), create('eve', 1n), remove('eve', 9n)];
    assert.deepEqual(await storage.commit(batch), [false, true, false, true, true, false]);
    assert.deepEqual(ids(await all(storage, 'ada')), [1n, 2n]);
    assert.deepEqual(await all(storage, 'bob'), []);
    assert.deepEqual(ids(await all(storage, 'eve')), [1n]);
  });

  it('takes an empty batch, and one of a thousand writes', async (t) => {
    const storage = await open(t);
    assert.deepEqual(await storage.commit([]), []);
    const batch = range(1000).map((n) => create(`user ${n % 7}`, BigInt(n)));
    assert.deepEqual(await storage.commit(batch), batch.map(() => true));
  });

  it('keeps nothing of the caller’s objects', async (t) => {
    const storage = await open(t);
    const plant = { id: 1n, name: 'Fern' };
    await storage.commit([{ kind: 'create', user: 'ada', plant }]);
    plant.name = 'changed';
    assert.deepEqual(await all(storage, 'ada'), [{ id: 1n, name: 'Fern' }]);
  });
}

/** What the contract says of `list`. */
export function testList(open: Open): void {
  it('lists nothing of a user who has nothing', async (t) => {
    const storage = await open(t);
    await storage.commit([create('ada', 1n)]);
    assert.deepEqual(await all(storage, 'nobody'), []);
  });

  it('lists in ascending numeric order over all of int64', async (t) => {
    const storage = await open(t);
    const sorted = [minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n, maxInt64 - 1n, maxInt64];
    await storage.commit(shuffled(sorted).map((id) => create('ada', id)));
    assert.deepEqual(ids(await all(storage, 'ada')), sorted);
    assert.deepEqual(ids(await storage.list('ada', { after: undefined, limit: 50 })), sorted);
  });

  it('answers up to the limit, greater than after', async (t) => {
    const storage = await open(t);
    await storage.commit([10n, 20n, 30n].map((id) => create('ada', id)));
    const listed = async (after: bigint | undefined, limit: number): Promise<bigint[]> =>
      ids(await storage.list('ada', { after, limit }));
    assert.deepEqual(await listed(undefined, 2), [10n, 20n]);
    assert.deepEqual(await listed(undefined, 2_147_483_647), [10n, 20n, 30n]);
    assert.deepEqual(await listed(10n, 1), [20n]);
    assert.deepEqual(await listed(15n, 5), [20n, 30n]);
    assert.deepEqual(await listed(30n, 5), []);
    assert.deepEqual(await listed(minInt64, 1), [10n]);
    assert.deepEqual(await listed(maxInt64, 5), []);
  });

  it('pages through thousands of plants without losing or repeating one, while others come and go', async (t) => {
    const storage = await open(t);
    const kept = range(5000).map((n) => BigInt(n) * 3n);
    const writes = shuffled(kept).map((id) => create('ada', id));
    for (let at = 0; at < writes.length; at += 1000) await storage.commit(writes.slice(at, at + 1000));
    const seen: bigint[] = [];
    for (let after: bigint | undefined; ; ) {
      const page = ids(await storage.list('ada', { after, limit: 617 }));
      seen.push(...page.filter((id) => id % 3n === 0n));
      after = page.at(-1);
      if (after === undefined) break;
      await storage.commit([create('ada', after - 1n), remove('ada', after - 2n), create('bob', after)]);
    }
    assert.deepEqual(seen, kept);
    assert.equal((await storage.list('ada', { after: undefined, limit: 1500 })).length, 1500);
  });

  it('stops before the limit, if at all, only where the page reaches 262144 code units', async (t) => {
    const storage = await open(t);
    // Characters of one and of three bytes of UTF-8.
    for (const letter of ['x', '\u2698']) {
      const plants = range(20).map((n) => ({ id: BigInt(n), name: letter.repeat(20_000), tag: letter.repeat(10_000) }));
      await storage.commit(plants.map((plant) => ({ kind: 'create', user: letter, plant })));
      const page = await storage.list(letter, { after: undefined, limit: 1000 });
      assert.ok(page.length >= 9, `${page.length} plants`);
      assert.deepEqual(page, plants.slice(0, page.length));
      assert.deepEqual(await all(storage, letter), plants);
      assert.equal((await storage.list(letter, { after: undefined, limit: 3 })).length, 3);
    }
  });

  it('answers fresh objects, which the caller may change', async (t) => {
    const storage = await open(t);
    await storage.commit([create('ada', 1n, 'Fern')]);
    const [plant] = await all(storage, 'ada');
    assert.ok(plant);
    assert.equal(Object.getPrototypeOf(plant), Object.prototype);
    plant.name = 'changed';
    assert.deepEqual(await all(storage, 'ada'), [{ id: 1n, name: 'Fern' }]);
  });

  it('shows a commit to every list that begins after it, also while other commits are under way', async (t) => {
    const storage = await open(t);
    for (const n of range(50)) {
      const earlier = BigInt(n) * 2n;
      await storage.commit([create('ada', earlier)]);
      const [listed] = await Promise.all([all(storage, 'ada'), storage.commit([create('ada', earlier + 1n)])]);
      assert.ok(ids(listed).includes(earlier));
    }
    assert.equal((await all(storage, 'ada')).length, 100);
  });
}

/** What the contract says of what is kept. */
export function testFidelity(open: Open): void {
  const texts = ['', ' ', 'a', 'A', 'a ', 'é', 'e\u0301', "'; DROP TABLE plants; --", '\\', 'a\\b"c\nd', '%_', '"', '\u{1F33F}', '\uFEFF', '\uFFFD', '\uFFFF', '\t\r\n', '0', '1e3', 'null'];

  it('gives back every Unicode character but U+0000', async (t) => {
    const storage = await open(t);
    const planes = range(0x110).map((block) => range(0x1000).map((n) => block * 0x1000 + n).filter(isAllowedCodePoint));
    const names = planes.filter((points) => points.length > 0).map((points) => String.fromCodePoint(...points));
    await storage.commit(names.map((name, n) => create('ada', BigInt(n), name, name)));
    assert.deepEqual(await all(storage, 'ada'), names.map((name, n) => ({ id: BigInt(n), name, tag: name })));
  });

  it('gives back names and tags as they are, and no tag where there is none', async (t) => {
    const storage = await open(t);
    const plants = texts.flatMap((text, n) => [
      { id: BigInt(n), name: text },
      { id: BigInt(n + texts.length), name: 'x', tag: text },
      { id: BigInt(n + 2 * texts.length), name: text.repeat(5000) },
    ]);
    await storage.commit(plants.map((plant) => ({ kind: 'create', user: 'ada', plant })));
    const byId = plants.toSorted((a, b) => Number(a.id - b.id));
    assert.deepEqual(await all(storage, 'ada'), byId);
  });

  it('takes users apart that differ in anything at all', async (t) => {
    const storage = await open(t);
    const users = [...texts.filter((text) => text !== ''), 'x'.repeat(254), 'x'.repeat(255)];
    assert.deepEqual(await storage.commit(users.map((user, n) => create(user, 7n, `plant ${n}`))), users.map(() => true));
    await storage.commit([remove('a', 7n)]);
    for (const [n, user] of users.entries()) {
      assert.deepEqual(await all(storage, user), user === 'a' ? [] : [{ id: 7n, name: `plant ${n}` }]);
    }
  });
}

export function create(user: string, id: bigint, name = 'a plant', tag?: string): Write {
  return { kind: 'create', user, plant: tag === undefined ? { id, name } : { id, name, tag } };
}

export function remove(user: string, id: bigint): Write {
  return { kind: 'delete', user, id };
}

/** All plants of a user. A page may be short of the limit where names are long; only an empty one is the end. */
export async function all(storage: StorageAdapter, user: string): Promise<StoredPlant[]> {
  const plants: StoredPlant[] = [];
  for (;;) {
    const page = await storage.list(user, { after: plants.at(-1)?.id, limit: 10_000 });
    if (page.length === 0) return plants;
    plants.push(...page);
  }
}

export function ids(plants: readonly StoredPlant[]): bigint[] {
  return plants.map(({ id }) => id);
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

/** The same order at every run, but far from sorted. */
function shuffled<T>(items: readonly T[]): T[] {
  return range(items.length)
    .toSorted((a, b) => ((a * 7919) % 104_729) - ((b * 7919) % 104_729))
    .flatMap((n) => items.slice(n, n + 1));
}

function isAllowedCodePoint(point: number): boolean {
  return point !== 0 && !(point >= 0xd800 && point <= 0xdfff);
}
