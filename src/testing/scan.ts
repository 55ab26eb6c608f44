import { maxInt64, minInt64 } from '../model/int64.ts';
import { expect, expectEqual } from './expect.ts';
import { all, create, expectEnd, keyOf, range, remove, scanAll } from './plants.ts';
import type { Suite } from './suite.ts';
import type { PlantKey } from '../storage/storage-adapter.ts';

/** Users, sorted by their UTF-8 bytes. This order differs from UTF-16 order and from dictionary order. */
const sortedUsers = [
  ...[' ', '%', "'", 'A', 'B', 'B ', 'a', 'aa', 'b', '\u007f', 'é', 'ü', '\ud7ff', '\ue000', '\uFFFD', '\uFFFF'],
  ...['\u{10000}', '\u{1F33F}', '\u{10FFFF}'],
];

/** Registers the tests for `scan`. */
export function testScan({ test }: Suite): void {
  test('scan returns nothing if nothing is stored', async ({ open }) => {
    const storage = await open();
    const everything = { after: undefined, limit: 10 };
    expectEqual(await storage.scan(everything), [], 'scan of an empty storage must return nothing.');
    await storage.commit([create('ada', 1n)]);
    expectEqual((await storage.scan(everything)).length, 1, 'scan must return the plant that was stored.');
    await storage.commit([remove('ada', 1n)]);
    expectEqual(await storage.scan(everything), [], 'scan must not return a deleted plant.');
    expectEqual(
      await storage.scan({ after: { user: 'ada', id: 1n }, limit: 10 }),
      [],
      'scan after a deleted plant must return nothing.',
    );
  });

  test('scan sorts by the bytes of the UTF-8 of the user, then by id over all of int64', async ({ open }) => {
    const storage = await open();
    const ids = [minInt64, -(2n ** 53n) - 1n, -1n, 0n, 9n, 10n, 2n ** 53n + 1n, maxInt64];
    const sorted = sortedUsers.flatMap((user) => ids.map((id) => ({ user, id })));
    const contract = 'scan must return all plants of all users, by the bytes of the UTF-8 of the user and then by id.';
    await storage.commit(sorted.toReversed().map(({ user, id }) => create(user, id)));
    expectEqual((await storage.scan({ after: undefined, limit: 1000 })).map(keyOf), sorted, contract);
    expectEqual((await scanAll(storage, 7)).map(keyOf), sorted, contract);
  });

  test('scan returns the plants after a key, stored or not, up to the limit', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 10n), create('ada', 20n), create('bob', minInt64), create('eve', 5n)]);
    const [a10, a20, b, e5] = ['ada 10', 'ada 20', `bob ${minInt64}`, 'eve 5'];
    const expectScan = async (user: string, id: bigint, expected: string[], limit = 10): Promise<void> => {
      const found = await storage.scan({ after: { user, id }, limit });
      const call = `scan(user: ${JSON.stringify(user)}, id: ${id}, limit: ${limit})`;
      const contract = `${call} must return the plants after this key.`;
      expectEqual(
        found.map((owned) => `${owned.user} ${owned.plant.id}`),
        expected,
        contract,
      );
    };
    await expectScan('ada', 10n, [a20, b, e5]);
    await expectScan('ada', 10n, [a20], 1);
    await expectScan('ada', 15n, [a20, b], 2);
    await expectScan('ada', 20n, [b, e5]);
    await expectScan('ada', maxInt64, [b, e5]);
    await expectScan('a', maxInt64, [a10, a20, b, e5]);
    await expectScan('ada!', minInt64, [b, e5]);
    await expectScan('bob', minInt64, [e5]);
    await expectScan('eve', 5n, []);
    await expectScan('\u{10FFFF}', maxInt64, []);
    const page = await storage.scan({ after: undefined, limit: 2_147_483_647 });
    expectEqual(page.length, 4, 'scan must return all plants if its limit is 2147483647.');
  });

  test('scan pages through 6000 plants without losing or repeating one, while others change', async ({ open }) => {
    const storage = await open();
    const kept = range(6000).map((n) => ({ user: `user ${n % 3}`, id: BigInt(n) * 3n }));
    for (let at = 0; at < kept.length; at += 1000) {
      await storage.commit(kept.slice(at, at + 1000).map(({ user, id }) => create(user, id)));
    }
    const seen: PlantKey[] = [];
    let count = 0;
    for (let after: PlantKey | undefined; ;) {
      const page: PlantKey[] = (await storage.scan({ after, limit: 617 })).map(keyOf);
      seen.push(...page.filter(({ id }) => id % 3n === 0n));
      expectEnd('scan', (count += page.length));
      after = page.at(-1);
      if (after === undefined) break;
      const { user, id } = after;
      // Adds no user after one that was added here: with a new user ahead on every page, the scan would never end.
      const others = user.endsWith('!')
        ? []
        : [create(user, id - 1n), create('user', id - 1n), create(`${user}!`, id - 1n)];
      await storage.commit([remove(user, id - 2n), ...others]);
    }
    const sorted = range(3).flatMap((n) => kept.filter(({ user }) => user === `user ${n}`));
    expectEqual(seen, sorted, 'Page by page, scan must return every plant exactly once if it is stored all the time.');
  });

  test('scan returns at least one plant a page, however long names are', async ({ open }) => {
    const storage = await open();
    const owned = range(12).map((n) => ({
      user: `user ${n % 2}`,
      plant: { id: BigInt(n), name: 'é'.repeat(n * 40_000), tag: `${n}` },
    }));
    for (const { user, plant } of owned) await storage.commit([{ kind: 'create', user, plant }]);
    const sorted = range(2).flatMap((n) => owned.filter(({ user }) => user === `user ${n}`));
    const contract =
      'scan must return every plant, also one with a name of 440000 code units: only an empty page is the end.';
    expectEqual(await scanAll(storage, 1000), sorted, contract);
    expectEqual(await scanAll(storage, 1), sorted, contract);
  });

  test('scan returns the same plants as list: texts exactly, and no tag if there is none', async ({ open }) => {
    const storage = await open();
    const texts = ['', ' ', '"', '\\', '\\u0041', '\t\r\n\u0001\u007f\u0085\u2028', '\u{1F33F}', '\uFEFF', 'null'];
    const owned = texts.flatMap((text, n) => [
      { user: 'ada', plant: { id: BigInt(2 * n), name: text } },
      { user: 'ada', plant: { id: BigInt(2 * n + 1), name: 'x', tag: text } },
    ]);
    await storage.commit(owned.map(({ user, plant }) => ({ kind: 'create', user, plant })));
    const found = await storage.scan({ after: undefined, limit: 1000 });
    expectEqual(found, owned, 'scan must return names and tags exactly as they were stored.');
    expectEqual(
      await all(storage, 'ada'),
      owned.map(({ plant }) => plant),
      'list must return the same plants as scan.',
    );
  });

  test('scan returns fresh plain objects, which the caller may change', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n, 'Fern')]);
    const [owned] = await scanAll(storage, 10);
    expect(owned !== undefined, 'scan must return the plant that was stored. It returned nothing.');
    const arePlain = [owned, owned.plant].every((value) => Object.getPrototypeOf(value) === Object.prototype);
    expect(arePlain, 'scan must return plain objects. One of its objects has another prototype.');
    owned.plant.name = 'changed';
    const contract = 'A stored plant must not change when the caller changes an object that scan returned.';
    expectEqual(await scanAll(storage, 10), [{ user: 'ada', plant: { id: 1n, name: 'Fern' } }], contract);
  });
}
