import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import type { PageRequest } from '../../core/page.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import { expect, expectEqual, fail } from './expect.ts';
import { compareOwned, create, createAll, ids, plantOf, range, remove, shuffled } from './plants.ts';
import { expectList, expectStored, scanAll } from './stored.ts';
import type { Suite } from './suite.ts';

const stored: readonly OwnedPlant[] = [
  plantOf('ad', 7n),
  ...[minInt64, 10n, 20n, 30n, maxInt64].map((id) => plantOf('ada', id, `plant ${id}`, id === 20n ? '' : undefined)),
  plantOf('ada ', 7n),
  ...[-1n, 15n].map((id) => plantOf('bob', id)),
];
const starts = [undefined, minInt64, -5n, 10n, 15n, 29n, 30n, maxInt64];

/** Returns requests for pages with these limits, from various start positions, for users with and without plants. */
function requestsWith(limits: readonly number[]): PageRequest[] {
  return limits.flatMap((limit) =>
    ['ada', 'bob', 'nobody'].flatMap((user) => starts.map((after) => ({ user, after, limit }))),
  );
}

/** Registers the tests for `list` and `scan`. */
export function testLists({ test }: Suite): void {
  test('list returns the plants after an id, up to the limit, and whether more plants follow', async ({ open }) => {
    const storage = await open();
    await storage.commit(createAll(stored));
    for (const request of requestsWith([1, 2, 3, 5, 6, 2_147_483_647])) await expectList(storage, request, stored);
  });

  test('list and scan return each of 5000 plants exactly once, page by page, while other plants change', async (t) => {
    const storage = await t.open();
    const kept = range(5000).map((n) => plantOf(`user ${Math.floor(n / 4000)}`, BigInt(n) * 3n));
    const writes = createAll(shuffled(kept));
    for (let at = 0; at < writes.length; at += 1000) await storage.commit(writes.slice(at, at + 1000));
    const isKept = ({ user, plant }: OwnedPlant): boolean => user.startsWith('user') && plant.id % 3n === 0n;
    const change = ({ user, plant: { id } }: OwnedPlant): Promise<boolean[]> =>
      storage.commit([create(user, id - 1n), remove(user, id - 2n), create('a', id), create('zoe', id)]);

    const scanned: OwnedPlant[] = [];
    for await (const page of storage.scan()) {
      scanned.push(...page.filter(isKept));
      await change(page.at(-1) ?? fail('scan must not yield an empty page.'));
    }
    const contract = 'The pages must contain every plant that exists all the time exactly once.';
    expectEqual(scanned.sort(compareOwned), kept, contract);

    const listed: OwnedPlant[] = [];
    for (let after: bigint | undefined; ;) {
      const { plants, hasMore } = await storage.list('user 0', { after, limit: 617 });
      listed.push(...plants.map((plant) => ({ user: 'user 0', plant })).filter(isKept));
      if (!hasMore) break;
      after = plants.at(-1)?.id;
      await change(listed.at(-1) ?? fail('list must not return an empty page if more plants follow.'));
    }
    expectEqual(listed, kept.slice(0, 4000), contract);
  });

  test('list and scan return new plain objects, which the caller may change', async ({ open }) => {
    const storage = await open();
    const fern = plantOf('ada', 1n, 'Fern');
    await storage.commit(createAll([fern]));
    const { plants } = await storage.list('ada', { after: undefined, limit: 1 });
    const found = await scanAll(storage);
    const returned = [...plants, ...found.map(({ plant }) => plant)];
    const arePlain = [...found, ...returned].every((each) => Object.getPrototypeOf(each) === Object.prototype);
    expect(arePlain, 'list and scan must return plain objects. The prototype of one is not Object.prototype.');
    for (const plant of returned) plant.name = 'changed';
    const contract = 'A stored plant must not change when the caller changes an object that list or scan returned.';
    await expectStored(storage, [fern], { contract });
  });

  test('list returns the plants of every resolved commit, even during another commit', async ({ open }) => {
    const storage = await open();
    for (const n of range(50)) {
      const earlier = BigInt(n) * 2n;
      await storage.commit([create('ada', earlier)]);
      const [{ plants }] = await Promise.all([
        storage.list('ada', { after: earlier - 1n, limit: 10 }),
        storage.commit([create('ada', earlier + 1n)]),
      ]);
      const contract = 'When a commit resolves, every later list must return its plants.';
      expectEqual(ids(plants.slice(0, 1)), [earlier], contract);
    }
  });
}
