import assert from 'node:assert/strict';
import { isPlantStoreError } from '../core/model/errors.ts';
import { maxInt64, minInt64 } from '../core/model/int64.ts';
import type { OwnedPlant } from '../core/storage-adapter.ts';
import { expectEqual } from './expect.ts';
import type { Place, Tests } from './place.ts';
import { create, createEach, firstPage, integersBelow, plantOf, removeEach, shuffled } from './plants.ts';
import { ReferenceStore } from './reference-store.ts';
import { expectStored, scanAll } from './stored.ts';

/** U+0001 to U+009F (ASCII and the C1 controls), the line and paragraph separators, and a few special characters. */
const characters = [...integersBelow(160).slice(1), 0x2028, 0x2029, 0xfeff, 0xfffd, 0xffff, 0x1f33f].map((code) =>
  String.fromCodePoint(code),
);
const words = ['__proto__', 'constructor', "'; DROP TABLE plants; --", 'null', '1e3', '\\u0041', '\t\r\n', 'a\\b"c\nd'];
const texts = ['', 'aa', 'a7', 'a ', 'é', 'e\u0301', 'ß', 'ss', ...words, ...characters];
/** Users that an adapter confuses if it compares prefixes, or uses them as property names or as parts of keys. */
const users = [...texts.slice(1), ...characters.map((each) => `a${each}7`)];
const longUsers = ['x'.repeat(254), 'x'.repeat(255), `${'é'.repeat(127)}x`, `${'é'.repeat(127)}y`];
const ids = [minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n];

const batches: Readonly<Record<string, () => OwnedPlant[]>> = {
  'a batch may contain a thousand writes': () => integersBelow(1000).map((n) => plantOf(`user ${n % 7}`, n)),
  'ids are exact int64 and sorted as numbers': () =>
    ['ada', 'bob'].flatMap((user) => [...ids, maxInt64 - 1n, maxInt64].map((id) => plantOf(user, id))),
  'users of up to 255 bytes of UTF-8 are distinguished by every byte': () => [
    ...[...users, ...longUsers].map((user, n) => plantOf(user, 7, `plant ${n}`)),
    plantOf('a', 77),
  ],
  'names and tags are stored unchanged, including empty ones, and a missing tag stays missing': () =>
    texts.flatMap((text, n) => [
      plantOf('ada', 3 * n, text),
      plantOf('ada', 3 * n + 1, 'x', text),
      plantOf('bob', n, text.repeat(n < 20 ? 5000 : 2)),
    ]),
  'plants with names of more than 256 KiB are listed, also after short ones': () =>
    integersBelow(6).flatMap((n) => [
      plantOf('ada', n, 'é'.repeat(n * 40_000)),
      plantOf('ada', n + 100, 'x'.repeat(n === 3 ? 1000 : 5), n === 5 ? 'y'.repeat(5000) : undefined),
      plantOf('bob', n, '"'.repeat(n * 10_000), 'x'),
    ]),
};

async function expectBatchStored(place: Place, plants: readonly OwnedPlant[]): Promise<void> {
  const storage = await place.open();
  const outcomes = await storage.commit(shuffled(createEach(plants)));
  expectEqual(new Set(outcomes), new Set([true]), 'commit must return true for each create of a new id.');
  await expectStored(storage, plants, undefined, 7);
  await expectStored(place.canReopen ? await place.open('reopen') : storage, plants);
  await storage.commit(removeEach(plants.slice(1)));
  await expectStored(storage, plants.slice(0, 1));
}

/** Cases that random batches rarely reach. */
export const caseTests: Tests = {
  ...Object.fromEntries(
    Object.entries(batches).map(([title, plants]) => [title, (place) => expectBatchStored(place, plants())]),
  ),

  'scan returns each plant of 1501 users once, while others are created and deleted': async (place) => {
    const storage = await place.open();
    const users = integersBelow(1500).map((n) => plantOf(`user ${n}`, 1, 'kept'));
    const kept = [...users, ...integersBelow(1000).map((n) => plantOf('ada', 2 * n, 'kept'))];
    const all = shuffled([...kept, ...integersBelow(1000).map((n) => plantOf('ada', 2 * n + 1))]);
    for (let at = 0; at < all.length; at += 1000) await storage.commit(createEach(all.slice(at, at + 1000)));
    const found: OwnedPlant[] = [];
    for await (const page of storage.scan()) {
      found.push(...page.filter(({ plant }) => plant.name === 'kept'));
      // A scan that counts plants, instead of remembering a key, now skips plants.
      await storage.commit(removeEach(page.filter(({ user, plant }) => user === 'ada' && plant.name !== 'kept')));
      if (found.length < 2000) await storage.commit([create(found.length, 'eve')]);
    }
    const rule = 'scan must return every plant once that exists all the time.';
    expectEqual(new ReferenceStore(found).scan(), new ReferenceStore(kept).scan(), rule);
    // A scan that ends early must not block a commit.
    for await (const page of storage.scan()) if (page.length > 0) break;
    await storage.commit([create(-1, 'eve')]);
  },

  'a plant does not change if the caller changes what it passed to commit': async (place) => {
    const storage = await place.open();
    const given = plantOf('ada', 1, 'Fern');
    // This argument is not frozen.
    await place.deadline.call('commit()', () => storage.adapter.commit(createEach([given])));
    given.plant.name = 'changed';
    await expectStored(storage, [plantOf('ada', 1, 'Fern')]);
  },

  'calls after close reject with the code closed, and a second close does nothing': async (place) => {
    const storage = await place.open();
    await storage.close();
    const calls = [storage.commit([create(2)]), storage.list('ada', firstPage), scanAll(storage)];
    const results = (await Promise.allSettled<unknown>(calls)) as { reason?: Error }[];
    for (const [n, { reason }] of results.entries()) {
      const isClosed = isPlantStoreError(reason?.cause) && reason.cause.code === 'closed';
      const rule = 'must return a promise that rejects with a PlantStoreError with code closed';
      assert.ok(isClosed, `After close, ${['commit', 'list', 'scan'][n] ?? ''} ${rule}, but: ${String(reason)}`);
    }
    await storage.close();
  },

  'close may be called during a commit and a list, which then succeed or reject': async (place) => {
    const storage = await place.open();
    const calls = Promise.allSettled([storage.commit([create(1)]), storage.list('ada', firstPage)]);
    await storage.close();
    const [commit] = await calls;
    if (commit.status === 'rejected' || !place.canReopen) return;
    const rule = 'A commit that succeeds must be durable, even if close was called during the commit.';
    await expectStored(await place.open('reopen'), [plantOf('ada', 1, '')], rule);
  },
};
