import { maxInt64, minInt64 } from '../model/int64.ts';
import { expect, expectEqual } from './expect.ts';
import { all, create, expectEnd, keyOf, range, remove, scanAll } from './plants.ts';
import type { Suite } from './suite.ts';
import type { PlantKey } from '../storage/storage-adapter.ts';

/**
 * Users in the order of their UTF-8 bytes, which differs from the order of UTF-16 code units and from alphabetical
 * order.
 */
const sortedUsers = [
  ...[' ', '%', "'", 'A', 'B', 'B ', 'a', 'aa', 'b', '\u007f', 'é', 'ü', '\ud7ff', '\ue000', '\uFFFD', '\uFFFF'],
  ...['\u{10000}', '\u{1F33F}', '\u{10FFFF}'],
];

/** Registers the tests for `scan`. */
export function testScan({ test }: Suite): void {
  test('scan returns nothing if nothing is stored', async ({ open }) => {
    const storage = await open();
    const everything = { after: undefined, limit: 10 };
    expectEqual(await storage.scan(everything), [], 'If nothing is stored, scan must return an empty array.');
    await storage.commit([create('ada', 1n)]);
    expectEqual((await storage.scan(everything)).length, 1, 'scan must return the plant that was stored.');
    await storage.commit([remove('ada', 1n)]);
    expectEqual(await storage.scan(everything), [], 'scan must not return a deleted plant.');
    expectEqual(
      await storage.scan({ after: { user: 'ada', id: 1n }, limit: 10 }),
      [],
      'If nothing is stored, scan must return an empty array, even after the key of a deleted plant.',
    );
  });

  test('scan sorts by the UTF-8 bytes of the user, then by id in the whole int64 range', async ({ open }) => {
    const storage = await open();
    const ids = [minInt64, -(2n ** 53n) - 1n, -1n, 0n, 9n, 10n, 2n ** 53n + 1n, maxInt64];
    const sorted = sortedUsers.flatMap((user) => ids.map((id) => ({ user, id })));
    const contract = 'scan must return the plants of all users, sorted by the UTF-8 bytes of the user and then by id.';
    await storage.commit(sorted.toReversed().map(({ user, id }) => create(user, id)));
    expectEqual((await storage.scan({ after: undefined, limit: 1000 })).map(keyOf), sorted, contract);
    expectEqual((await scanAll(storage, 7)).map(keyOf), sorted, contract);
  });

  test('scan returns the plants after a key, which need not exist, up to the limit', async ({ open }) => {
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
    expectEqual(
      page.map((owned) => `${owned.user} ${owned.plant.id}`),
      [a10, a20, b, e5],
      'If the limit is 2147483647, scan must return all plants.',
    );
  });

  test('scan returns each of 6000 plants exactly once, page by page, while other plants change', async ({ open }) => {
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
      // If the last plant of the page belongs to a user that this test has added, no further user is added. Otherwise,
      // a new user would follow every page, and the scan would never end.
      const others = user.endsWith('!')
        ? []
        : [create(user, id - 1n), create('user', id - 1n), create(`${user}!`, id - 1n)];
      await storage.commit([remove(user, id - 2n), ...others]);
    }
    const sorted = range(3).flatMap((n) => kept.filter(({ user }) => user === `user ${n}`));
    expectEqual(
      seen,
      sorted,
      'When paging, scan must return every plant that is stored during the whole test exactly once.',
    );
  });

  test('scan returns at least one plant per page, even if names are very long', async ({ open }) => {
    const storage = await open();
    const owned = range(12).map((n) => ({
      user: `user ${n % 2}`,
      plant: { id: BigInt(n), name: 'é'.repeat(n * 40_000), tag: `${n}` },
    }));
    for (const { user, plant } of owned) await storage.commit([{ kind: 'create', user, plant }]);
    const sorted = range(2).flatMap((n) => owned.filter(({ user }) => user === `user ${n}`));
    const contract =
      'scan must return every plant, even with a name of 440000 code units. Only an empty page may mean the end.';
    expectEqual(await scanAll(storage, 1000), sorted, contract);
    expectEqual(await scanAll(storage, 1), sorted, contract);
  });

  test('scan returns the same plants as list, with unchanged names and tags', async ({ open }) => {
    const storage = await open();
    const texts = ['', ' ', '"', '\\', '\\u0041', '\t\r\n\u0001\u007f\u0085\u2028', '\u{1F33F}', '\uFEFF', 'null'];
    const owned = texts.flatMap((text, n) => [
      { user: 'ada', plant: { id: BigInt(2 * n), name: text } },
      { user: 'ada', plant: { id: BigInt(2 * n + 1), name: 'x', tag: text } },
    ]);
    await storage.commit(owned.map(({ user, plant }) => ({ kind: 'create', user, plant })));
    const found = await storage.scan({ after: undefined, limit: 1000 });
    expectEqual(
      found,
      owned,
      'scan must return names and tags unchanged, and no property tag for a plant without a tag.',
    );
    expectEqual(
      await all(storage, 'ada'),
      owned.map(({ plant }) => plant),
      'list must return the same plants as scan.',
    );
  });

  test('scan returns new plain objects, which the caller may change', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n, 'Fern')]);
    const [owned] = await scanAll(storage, 10);
    expect(owned !== undefined, 'scan must return the plant that was stored. It returned nothing.');
    const arePlain = [owned, owned.plant].every((value) => Object.getPrototypeOf(value) === Object.prototype);
    expect(arePlain, 'scan must return plain objects. The prototype of one of its objects is not Object.prototype.');
    owned.plant.name = 'changed';
    const contract = 'A stored plant must not change when the caller changes an object that scan returned.';
    expectEqual(await scanAll(storage, 10), [{ user: 'ada', plant: { id: 1n, name: 'Fern' } }], contract);
  });
}
