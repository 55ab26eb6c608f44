import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import type { OwnedPlant, PageRequest, PlantKey, StorageAdapter } from '../../core/storage-adapter.ts';
import { expect, expectEqual } from './expect.ts';
import { create, createAll, ids, keyOf, plantOf, range, remove, shuffled } from './plants.ts';
import { expectList, expectListPages, expectScan, expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

/** The stored plants, in the order in which `scan` returns them. */
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

/** Reads a page with `list` or `scan`, and returns the keys of its plants. */
async function readKeys(storage: StorageAdapter, method: string, after: PlantKey | undefined): Promise<PlantKey[]> {
  if (method === 'scan') return (await storage.scan({ after, limit: 617 })).map(keyOf);
  const { plants } = await storage.list('user 0', { after: after?.id, limit: 617 });
  return ids(plants).map((id) => ({ user: 'user 0', id }));
}

/** Registers the tests for `list` and `scan`. */
export function testLists({ test }: Suite): void {
  test('list returns the plants after an id, up to the limit, and whether more plants follow', async ({ open }) => {
    const storage = await open();
    await storage.commit(createAll(stored));
    for (const request of requestsWith([1, 2, 3, 5, 6, 2_147_483_647])) await expectList(storage, request, stored);
  });

  test('scan returns the plants after a key, which need not exist, up to the limit', async ({ open }) => {
    const storage = await open();
    await storage.commit(createAll(stored));
    const users = ['a', 'ad', 'ada', 'ada!', 'bob', 'eve', '\u{10FFFF}'];
    const keys = users.flatMap((user) => [minInt64, -5n, 10n, 15n, maxInt64].map((id) => ({ user, id })));
    for (const limit of [1, 2, 2_147_483_647]) {
      for (const after of [undefined, ...keys]) await expectScan(storage, { after, limit }, stored);
    }
  });

  for (const method of ['list', 'scan']) {
    test(`${method} returns each of 5000 plants exactly once, page by page, while other plants change`, async (t) => {
      const storage = await t.open();
      const kept = range(5000).map((n) => ({ user: `user ${Math.floor(n / 4000)}`, id: BigInt(n) * 3n }));
      const writes = shuffled(kept).map(({ user, id }) => create(user, id));
      for (let at = 0; at < writes.length; at += 1000) await storage.commit(writes.slice(at, at + 1000));
      const due = method === 'list' ? kept.filter(({ user }) => user === 'user 0') : kept;
      const contract = `The pages of ${method} must contain every plant that exists all the time exactly once.`;
      let count = 0;
      for (let after: PlantKey | undefined; ;) {
        const page = await readKeys(storage, method, after);
        const found = page.filter(({ user, id }) => user.startsWith('user') && id % 3n === 0n);
        expectEqual(found, due.slice(count, count + found.length), contract);
        count += found.length;
        after = page.at(-1);
        if (after === undefined) break;
        const { user, id } = after;
        // Except for the plant of the user zoe, these plants precede the next page.
        await storage.commit([create(user, id - 1n), remove(user, id - 2n), create('a', id), create('zoe', id)]);
      }
      expectEqual(count, due.length, contract);
    });
  }

  test('list and scan return new plain objects, which the caller may change', async ({ open }) => {
    const storage = await open();
    const fern = plantOf('ada', 1n, 'Fern');
    await storage.commit(createAll([fern]));
    const { plants } = await storage.list('ada', { after: undefined, limit: 1 });
    const found = await storage.scan({ after: undefined, limit: 1 });
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

/** Registers the tests for the optional `listPages` method. Other tests compare its pages with those of `list`. */
export function testListPages({ test }: Suite): void {
  const tests: Readonly<Record<string, { plants?: () => readonly OwnedPlant[]; requests: () => PageRequest[] }>> = {
    'listPages returns the pages of several users, in the order of the requests': {
      requests: () => shuffled(requestsWith([1, 2, 3, 5, 6])),
    },
    'listPages returns a page for each of several identical requests': {
      requests: () => requestsWith([2, 2]).flatMap((request) => [request, request]),
    },
    'listPages accepts a thousand requests for one plant each': {
      requests: () => range(1000).map((n) => ({ user: n % 2 === 0 ? 'ada' : 'bob', after: BigInt(n % 40), limit: 1 })),
    },
    'listPages returns the first plants of each page if names are very long': {
      plants: () => range(40).map((n) => plantOf(n < 20 ? 'ada' : 'bob', BigInt(n), `${n % 7}`.repeat(20_000))),
      requests: () => range(40).map((n) => ({ user: n % 3 === 0 ? 'bob' : 'ada', after: BigInt(n), limit: 25 })),
    },
  };
  for (const [title, { plants = () => stored, requests }] of Object.entries(tests)) {
    test(title, async ({ open, skipWithout }) => {
      const storage = await open();
      if (storage.listPages === undefined) return skipWithout('listPages');
      await storage.commit(createAll(plants()));
      await expectListPages(storage, requests(), plants());
    });
  }
}
