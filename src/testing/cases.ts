import { maxInt64, minInt64 } from '../core/model/plant.ts';
import type { OwnedPlant, Write } from '../core/storage-adapter.ts';
import { expectEqual, expectRejection, expectStored, scanAll } from './checked-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import type { Place, Tests } from './place.ts';
import { ReferenceStore, create, createEach, firstPage, integersBelow, plantOf } from './plants.ts';
import { removeEach, shuffled } from './plants.ts';

/** U+0001 to U+009F (ASCII and the C1 controls), the line and paragraph separators, and a few special characters. */
const characters = [...integersBelow(160).slice(1), 0x2028, 0x2029, 0xfeff, 0xfffd, 0xffff, 0x1f33f].map((code) =>
  String.fromCodePoint(code),
);
const words = ['__proto__', 'constructor', "'; DROP TABLE plants; --", 'null', '1e3', '\\u0041', '\t\r\n', 'a\\b"c\nd'];
const texts = ['', 'aa', 'a7', 'a ', 'é', 'e\u0301', 'ß', 'ss', ...words, ...characters];
/** Users that databases may treat as equal, because of a collation, a type, a wildcard or a short column. */
const lookAlikes = [
  ...['ada', 'Ada', 'ADA', 'ada ', ' ada', 'ada\u200d', 'ad', 'ad_', 'ad%', '\u00e4da', '\uff41da'],
  ...['\u00c9', '\u1e9e', '\u0131', '\u0130', '01', '1.0', '1e0', '+1', ' 1', '\u{1f340}'],
];
/** Users that an adapter confuses if it compares prefixes, or uses them as property names or as parts of keys. */
const users = [...lookAlikes, ...texts.slice(1), ...characters.map((each) => `a${each}7`)];
const longUsers = ['x'.repeat(254), 'x'.repeat(255), `${'é'.repeat(127)}x`, `${'é'.repeat(127)}y`];
const ids = [minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n];

const sets: Readonly<Record<string, () => OwnedPlant[]>> = {
  // A PlantStore commits at most 1,048,576 bytes of names and tags at once, unless a single write is larger.
  'a batch may contain 1 MiB of names and tags': () =>
    integersBelow(1000).map((n) => plantOf('ada', n, '\u20ac'.repeat(333), 'x'.repeat(49))),
  '2500 plants of one user are listed in pages of up to 1000': () => integersBelow(2500).map((n) => plantOf('ada', n)),
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
  'plants with names of more than 256 KiB are listed, even after plants with short names': () =>
    integersBelow(6).flatMap((n) => [
      plantOf('ada', n, 'é'.repeat(n * 40_000)),
      plantOf('ada', n + 100, 'x'.repeat(n === 3 ? 1000 : 5), n === 5 ? 'y'.repeat(5000) : undefined),
      plantOf('bob', n, '"'.repeat(n * 10_000), 'x'),
    ]),
  'names of 2 and 20 MB are stored': () =>
    [5, 2_000_000, 20_000_000, 6].map((length) => plantOf('ada', length, 'x'.repeat(length))),
};

/** Commits the writes in batches of at most 1000. If names are long, a batch with several could exceed 1 MiB. */
async function commitAll(storage: CheckedAdapter, model: ReferenceStore, writes: readonly Write[]): Promise<void> {
  const size = writes.some((write) => write.kind === 'create' && write.plant.name.length >= 200_000) ? 1 : 1000;
  for (let at = 0; at < writes.length; at += size) await storage.commitLike(model, writes.slice(at, at + size));
}

async function expectBatchStored(place: Place, plants: readonly OwnedPlant[]): Promise<void> {
  const storage = await place.open();
  const stored = new ReferenceStore();
  await commitAll(storage, stored, createEach(shuffled(plants)));
  for (const limit of plants.length > 1000 ? [500, 999] : [7]) await expectStored(storage, stored, undefined, limit);
  const again = place.canReopen ? await place.open('reopen') : storage;
  await expectStored(again, stored);
  await commitAll(again, stored, removeEach(plants.slice(1)));
  await expectStored(again, stored);
}

export const caseTests: Tests = {
  ...Object.fromEntries(
    Object.entries(sets).map(([title, plants]) => [title, (place) => expectBatchStored(place, plants())]),
  ),

  'scan returns each plant of 1501 users once, while others are created and deleted': async (place) => {
    const storage = await place.open();
    const users = integersBelow(1500).map((n) => plantOf(`user ${n}`, 1, 'kept'));
    const kept = [...users, ...integersBelow(1000).map((n) => plantOf('ada', 2 * n, 'kept'))];
    const all = shuffled([...kept, ...integersBelow(1000).map((n) => plantOf('ada', 2 * n + 1))]);
    await commitAll(storage, new ReferenceStore(), createEach(all));
    const found: OwnedPlant[] = [];
    for await (const page of storage.scan()) {
      found.push(...page.filter(({ plant }) => plant.name === 'kept'));
      // A scan that continues at an offset, instead of a key, now skips plants.
      await storage.commit(removeEach(page.filter(({ user, plant }) => user === 'ada' && plant.name !== 'kept')));
      if (found.length < 2000) await storage.commit([create(found.length, 'eve')]);
    }
    const rule = 'scan must return every plant once that exists all the time.';
    expectEqual(new ReferenceStore(found).scan(), new ReferenceStore(kept).scan(), rule);
  },

  'scans may end early, even twenty in a row': async (place) => {
    const storage = await place.open();
    const stored = new ReferenceStore();
    await commitAll(storage, stored, createEach(integersBelow(1500).map((n) => plantOf(`user ${n % 3}`, n))));
    for (let count = 0; count < 20; count++) for await (const page of storage.scan()) if (page.length > 0) break;
    await storage.commitLike(stored, [create(1, 'ada')]);
    await expectStored(storage, stored);
  },

  'a damaged plant is reported as storage_unsupported': async (place) => {
    const storage = await place.open();
    await storage.commit(integersBelow(3).map((n) => create(n, 'ada', `plant ${n}`)));
    await place.use('damagePlant', 'ada', 1n);
    const opening = place.canReopen ? place.open('reopen') : Promise.resolve(storage);
    const listing = opening.then((again) => again.list('ada', firstPage));
    const rule = 'must reject with a PlantStoreError with the code storage_unsupported.';
    await expectRejection(listing, `After damage, list ${rule}`, 'storage_unsupported');
    await expectRejection(opening.then(scanAll), `After damage, scan ${rule}`, 'storage_unsupported');
  },

  'close may be called during other calls, and later calls reject with the code closed': async (place) => {
    const storage = await place.open();
    const calls = Promise.allSettled([storage.commit([create(1)]), storage.list('ada', firstPage)]);
    await storage.close();
    const rule = 'must reject with a PlantStoreError with the code closed.';
    await expectRejection(storage.commit([create(2)]), `After close, commit ${rule}`, 'closed');
    await expectRejection(storage.list('ada', firstPage), `After close, list ${rule}`, 'closed');
    await expectRejection(scanAll(storage), `After close, the first page of scan ${rule}`, 'closed');
    await storage.close();
    const [commit] = await calls;
    if (commit.status === 'rejected' || !place.canReopen) return;
    const durable = 'A commit that succeeds must be durable, even if close was called during the commit.';
    await expectStored(await place.open('reopen'), [plantOf('ada', 1, '')], durable);
  },
};
