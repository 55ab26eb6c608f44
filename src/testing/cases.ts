import assert from 'node:assert/strict';
import { isPlantStoreError } from '../core/model/errors.ts';
import { maxInt64, minInt64 } from '../core/model/int64.ts';
import type { OwnedPlant } from '../core/storage-adapter.ts';
import { expectEqual } from './expect.ts';
import { create, createAll, plantOf, range, removeAll, shuffled } from './plants.ts';
import { ReferenceStore } from './reference-store.ts';
import { expectStored, scanAll } from './stored.ts';
import type { Suite } from './suite.ts';

/** ASCII without U+0000, the C1 controls, the line and paragraph separators, and a few special characters. */
const characters = [...range(160).slice(1), 0x2028, 0x2029, 0xfeff, 0xfffd, 0xffff, 0x1f33f].map((code) =>
  String.fromCodePoint(code),
);
const words = ['__proto__', 'constructor', "'; DROP TABLE plants; --", 'null', '1e3', '\\u0041', '\t\r\n', 'a\\b"c\nd'];
const texts = ['', 'aa', 'a7', 'a ', 'é', 'e\u0301', 'ß', 'ss', ...words, ...characters];
/** Users that an adapter confuses if it compares prefixes, or uses names as property names or as parts of keys. */
const users = [...texts.slice(1), ...characters.map((each) => `a${each}7`)];
const longUsers = ['x'.repeat(254), 'x'.repeat(255), `${'é'.repeat(127)}x`, `${'é'.repeat(127)}y`];
const ids = [minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n];

const batches: Readonly<Record<string, () => OwnedPlant[]>> = {
  'a batch may contain a thousand writes': () => range(1000).map((n) => plantOf(`user ${n % 7}`, BigInt(n))),
  'ids are exact int64 and sorted as numbers': () =>
    ['ada', 'bob'].flatMap((user) => [...ids, maxInt64 - 1n, maxInt64].map((id) => plantOf(user, id))),
  'users of up to 255 bytes of UTF-8 are distinguished by every byte': () => [
    ...[...users, ...longUsers].map((user, n) => plantOf(user, 7n, `plant ${n}`)),
    plantOf('a', 77n),
  ],
  'names and tags are stored unchanged, including empty ones, and a missing tag stays missing': () =>
    texts.flatMap((text, n) => [
      plantOf('ada', BigInt(3 * n), text),
      plantOf('ada', BigInt(3 * n + 1), 'x', text),
      plantOf('bob', BigInt(n), text.repeat(n < 20 ? 5000 : 2)),
    ]),
  'plants with names of more than 256 KiB are listed, also after short ones': () =>
    range(12).flatMap((n) => [
      plantOf('ada', BigInt(n), 'é'.repeat(n * 30_000)),
      plantOf('ada', BigInt(n + 100), 'x'.repeat(n % 7 === 3 ? 1000 : 5), n % 5 === 0 ? 'y'.repeat(5000) : undefined),
      plantOf('bob', BigInt(n), '"'.repeat(n * 5000), 'x'),
    ]),
};

/** Tests cases that the random calls of `testRandomCalls` rarely reach. */
export function testCases(suite: Suite): void {
  for (const [title, plants] of Object.entries(batches)) {
    suite.test(title, async (place) => {
      const storage = await place.open();
      const stored = plants();
      const outcomes = await storage.commit(shuffled(createAll(stored)));
      expectEqual(new Set(outcomes), new Set([true]), 'commit must return true for each create of a new id.');
      for (const limit of [1000, 7]) await expectStored(storage, stored, undefined, limit);
      if (place.canReopen) await expectStored(await place.open('reopen'), stored);
      await storage.commit(removeAll(stored.slice(1)));
      await expectStored(storage, stored.slice(0, 1));
    });
  }

  suite.test('scan returns each plant of 1501 users once, while others are created and deleted', async (place) => {
    const storage = await place.open();
    const users = range(1500).map((n) => plantOf(`user ${n}`, 1n, 'kept'));
    const kept = [...users, ...range(1000).map((n) => plantOf('ada', BigInt(2 * n), 'kept'))];
    const all = shuffled([...kept, ...range(1000).map((n) => plantOf('ada', BigInt(2 * n + 1)))]);
    for (let at = 0; at < all.length; at += 1000) await storage.commit(createAll(all.slice(at, at + 1000)));
    const found: OwnedPlant[] = [];
    for await (const page of storage.scan()) {
      found.push(...page.filter(({ plant }) => plant.name === 'kept'));
      // A scan that counts plants, instead of remembering a key, now skips plants.
      await storage.commit(removeAll(page.filter(({ user, plant }) => user === 'ada' && plant.name !== 'kept')));
      if (found.length < 2000) await storage.commit([create('eve', BigInt(found.length))]);
    }
    const rule = 'scan must return every plant once that exists all the time.';
    expectEqual(new ReferenceStore(found).scan(), new ReferenceStore(kept).scan(), rule);
    await place.deadline.call('a scan that ends early', async () => {
      for await (const page of storage.adapter.scan()) if (page.length > 0) break;
    });
    await storage.commit([create('eve', -1n)]);
  });

  suite.test('a plant does not change if the caller changes what it passed to commit', async (place) => {
    const storage = await place.open();
    const given = plantOf('ada', 1n, 'Fern');
    // This argument is not frozen.
    await place.deadline.call('commit()', () => storage.adapter.commit(createAll([given])));
    given.plant.name = 'changed';
    await expectStored(storage, [plantOf('ada', 1n, 'Fern')]);
  });

  suite.test('calls after close reject with the code closed, and a second close does nothing', async (place) => {
    const storage = await place.open();
    await storage.close();
    const calls = {
      commit: () => storage.commit([create('ada', 2n)]),
      list: () => storage.list('ada', { after: undefined, limit: 1 }),
      scan: () => scanAll(storage),
    };
    for (const [method, call] of Object.entries(calls)) {
      const [{ reason }] = (await Promise.allSettled([call()])) as [{ reason?: Error }];
      const isClosed = isPlantStoreError(reason?.cause) && reason.cause.code === 'closed';
      const rule = `After close, ${method} must return a promise that rejects with a PlantStoreError with code closed`;
      assert.ok(isClosed, `${rule}, but: ${String(reason)}`);
    }
    await storage.close();
  });

  suite.test('close may be called during a commit and a list, which then succeed or reject', async (place) => {
    const storage = await place.open();
    const listing = storage.list('ada', { after: undefined, limit: 1 });
    const calls = Promise.allSettled([storage.commit([create('ada', 1n)]), listing]);
    await storage.close();
    const [commit] = await calls;
    if (commit.status === 'rejected' || !place.canReopen) return;
    const rule = 'A commit that succeeds must be durable, even if close was called during the commit.';
    await expectStored(await place.open('reopen'), [plantOf('ada', 1n)], rule);
  });
}
