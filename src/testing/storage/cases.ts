import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import assert from 'node:assert/strict';
import { expectEqual } from './expect.ts';
import type { StorageAdapterTestOptions } from './options.ts';
import { create, createAll, plantOf, range, remove, shuffled } from './plants.ts';
import { test } from './session.ts';
import { expectList, expectStored, scanAll } from './stored.ts';

const texts = [
  ...['', ' ', 'a', 'A', 'a ', 'é', 'e\u0301', "'; DROP TABLE plants; --", '\\', 'a\\b"c\nd', '%_', '"', '\u{1F33F}'],
  ...['\uFEFF', '\uFFFD', '\uFFFF', '\t\r\n', '0', '1e3', 'null', '\\u0041', '"}]', '\u0001\u007f\u0085\u2028'],
];
const ids = [
  ...[minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n],
  ...[2n ** 53n, 2n ** 53n + 1n, maxInt64 - 1n, maxInt64],
];
/** Users that an adapter confuses if it compares prefixes, or uses names as property names or as parts of keys. */
const users = [
  ...['aa', 'a/', 'a/b', 'a:', 'a:b', 'a|b', 'a7', 'a\u0001bcdefghi', '__proto__', 'constructor'],
  ...['x'.repeat(254), 'x'.repeat(255), `${'é'.repeat(127)}x`, `${'é'.repeat(127)}y`, ...texts.slice(1)],
];

const batches: Readonly<Record<string, () => OwnedPlant[]>> = {
  'a batch may contain a thousand writes': () => range(1000).map((n) => plantOf(`user ${n % 7}`, BigInt(n))),
  'ids are exact int64 and sorted as numbers': () =>
    ['ada', 'bob'].flatMap((user) => ids.map((id) => plantOf(user, id))),
  'users of up to 255 bytes of UTF-8 are distinguished by every byte': () =>
    users.map((user, n) => plantOf(user, 7n, `plant ${n}`)),
  'names and tags are stored unchanged, including empty ones, and a missing tag stays missing': () =>
    texts.flatMap((text, n) => [
      plantOf('ada', BigInt(3 * n), text),
      plantOf('ada', BigInt(3 * n + 1), 'x', text),
      plantOf('ada', BigInt(3 * n + 2), text.repeat(5000)),
    ]),
  'plants with names of more than 256 KiB are listed, also after short ones': () =>
    range(12).flatMap((n) => [
      plantOf('ada', BigInt(n), 'é'.repeat(n * 40_000)),
      plantOf('ada', BigInt(n + 100), 'x'.repeat(n % 7 === 3 ? 1000 : 5), n % 5 === 0 ? 'y'.repeat(5000) : undefined),
      plantOf('bob', BigInt(n), '"'.repeat(n * 5000), 'x'),
    ]),
};

/** Tests cases that the random calls of `testHistories` rarely reach. */
export function testCases(options: StorageAdapterTestOptions): void {
  for (const [title, plants] of Object.entries(batches)) {
    test(options, title, async (session) => {
      const storage = await session.open(await session.createLocation());
      const stored = plants();
      const outcomes = await storage.commit(shuffled(createAll(stored)));
      expectEqual(
        outcomes,
        stored.map(() => true),
        'commit must return true for each create of a new id.',
      );
      for (const limit of [1000, 20, 3]) await expectStored(storage, stored, { limit });
      await storage.commit(stored.slice(1).map(({ user, plant }) => remove(user, plant.id)));
      await expectStored(storage, stored.slice(0, 1));
    });
  }

  test(options, 'list returns the plants after an id up to the limit, and whether more follow', async (session) => {
    const storage = await session.open(await session.createLocation());
    const stored = [minInt64, 10n, 20n, 30n, maxInt64].map((id) => plantOf('ada', id));
    await storage.commit(createAll(stored));
    for (const limit of [1, 2, 3, 5, 6, 2_147_483_647]) {
      for (const after of [undefined, minInt64, -5n, 10n, 15n, 29n, 30n, maxInt64]) {
        for (const user of ['ada', 'bob']) await expectList(storage, user, { after, limit }, stored);
      }
    }
  });

  test(options, 'scan returns each of 3000 plants once while other plants change', async (session) => {
    const storage = await session.open(await session.createLocation());
    const kept = range(3000).map((n) => BigInt(n) * 2n);
    for (const n of range(3)) {
      await storage.commit(kept.slice(n * 1000, n * 1000 + 1000).map((id) => create('ada', id)));
    }
    const scanning = scanAll(storage);
    for (const n of range(20)) await storage.commit([create('eve', BigInt(n)), remove('ada', BigInt(n * 2 - 1))]);
    const found = (await scanning).filter(({ user }) => user === 'ada').map(({ plant }) => plant.id);
    expectEqual(
      found.sort((a, b) => (a < b ? -1 : 1)),
      kept,
      'scan must return every plant once that exists all the time.',
    );
  });

  test(options, 'commit, list and scan share no objects with their callers', async (session) => {
    const storage = await session.open(await session.createLocation());
    const given = plantOf('ada', 1n, 'Fern');
    await storage.commit(createAll([given]));
    const { plants } = await storage.list('ada', { after: undefined, limit: 1 });
    const scanned = await scanAll(storage);
    for (const plant of [given.plant, ...plants, ...scanned.map((owned) => owned.plant)]) plant.name = 'changed';
    const rule = 'A stored plant must not change if the caller changes an object that it passed or received.';
    await expectStored(storage, [plantOf('ada', 1n, 'Fern')], { rule });
  });

  test(options, 'calls after close reject with the code closed, and a second close does nothing', async (session) => {
    const storage = await session.open(await session.createLocation());
    await storage.close();
    const calls = {
      commit: () => storage.commit([create('ada', 2n)]),
      list: () => storage.list('ada', { after: undefined, limit: 1 }),
      scan: () => scanAll(storage),
    };
    for (const [method, call] of Object.entries(calls)) {
      const rule = `After close, ${method} must reject with a PlantStoreError that has the code closed.`;
      await assert.rejects(call, (error: { code?: unknown }) => error.code === 'closed', rule);
    }
    await storage.close();
  });

  test(options, 'close may be called during a commit and a list, which then succeed or reject', async (session) => {
    const location = await session.createLocation();
    const storage = await session.open(location);
    const listed = storage.list('ada', { after: undefined, limit: 1 });
    const settled = Promise.allSettled([storage.commit([create('ada', 1n)]), listed]);
    await storage.close();
    const [commit] = await settled;
    if (commit.status === 'rejected' || !options.shared) return;
    expectEqual(commit.value, [true], 'A commit that succeeds during close must return its outcome.');
    const rule = 'A commit that succeeds must be durable, even if close was called during the commit.';
    const reopened = await session.reopen(location);
    if (reopened !== undefined) await expectStored(reopened, [plantOf('ada', 1n)], { rule });
  });
}
