import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import { PlantStore } from '../../core/plant-store.ts';
import type { OwnedPlant, Write } from '../../core/storage-adapter.ts';
import { expectCode, expectEqual } from './expect.ts';
import { compareOwned, create, createAll, ids as idsOf, plantOf, range, remove, shuffled } from './plants.ts';
import { expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

/** A commit, and the plants that are stored after it. */
interface Step {
  readonly writes: readonly Write[];
  /** The outcomes of the writes. By default, all of them are `true`. */
  readonly outcomes?: readonly boolean[];
  readonly stored: readonly OwnedPlant[];
  /** The page limits that are used to read the plants. See {@link expectStored}. */
  readonly limits?: readonly number[];
}

const fern = plantOf('ada', 1n, 'Fern', 'indoor');
const texts = [
  ...['', ' ', 'a', 'A', 'a ', 'é', 'e\u0301', "'; DROP TABLE plants; --", '\\', 'a\\b"c\nd', '%_', '"', '\u{1F33F}'],
  ...['\uFEFF', '\uFFFD', '\uFFFF', '\t\r\n', '0', '1e3', 'null', '\\u0041', '"}]', '\u0001\u007f\u0085\u2028'],
];
const ids = [
  ...[minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n],
  ...[2n ** 53n, 2n ** 53n + 1n, maxInt64 - 1n, maxInt64],
];
const users = [
  ...[' ', '%', "'", 'A', 'B', 'B ', 'a', 'aa', 'b', '\u007f', 'é', 'ü', '\ud7ff', '\ue000', '\uFFFD', '\uFFFF'],
  ...['\u{10000}', '\u{1F33F}', '\u{10FFFF}'],
];
/**
 * Users that an adapter confuses if it uses their names as property names, or builds keys from them without escaping.
 */
const trickyUsers = ['__proto__', 'constructor', 'a/', 'a/b', 'a:', 'a:b', 'a|b', 'a7', 'a\u0001bcdefghi'];
const longUsers = ['x'.repeat(254), 'x'.repeat(255), `${'é'.repeat(127)}x`, `${'é'.repeat(127)}y`];

/** The commits of each test, and the plants that are stored after each commit. */
const tests: Readonly<Record<string, () => readonly Step[]>> = {
  'a create returns true for a new id; for a taken id, it returns false and changes nothing': () => [
    { writes: createAll([fern]), stored: [fern] },
    { writes: [create('ada', 1n, 'Moss')], outcomes: [false], stored: [fern] },
  ],
  'a delete returns whether the plant existed': () => [
    { writes: createAll([fern]), stored: [fern] },
    { writes: [remove('ada', 1n)], stored: [] },
    { writes: [remove('ada', 1n)], outcomes: [false], stored: [] },
    { writes: createAll([fern]), stored: [fern] },
  ],
  'commit returns the outcomes in the order of the writes, for creates and deletes of several users': () => [
    { writes: [create('ada', 1n), create('bob', 2n)], stored: [plantOf('ada', 1n), plantOf('bob', 2n)] },
    {
      writes: [
        ...[remove('bob', 1n), create('ada', 2n), create('ada', 1n)],
        ...[remove('bob', 2n), create('eve', 1n), remove('eve', 9n)],
      ],
      outcomes: [false, true, false, true, true, false],
      stored: [plantOf('ada', 1n), plantOf('ada', 2n), plantOf('eve', 1n)],
    },
  ],
  'a batch may be empty or contain a thousand writes': () => {
    const stored = range(1000).map((n) => plantOf(`user ${n % 7}`, BigInt(n)));
    return [
      { writes: [], stored: [] },
      { writes: createAll(stored), stored: stored.toSorted(compareOwned) },
    ];
  },
  'plants of every user are sorted by id as a number': () => {
    const stored = users.flatMap((user) => ids.map((id) => plantOf(user, id)));
    return [{ writes: createAll(shuffled(stored)), stored, limits: [1000, 7] }];
  },
  'every Unicode character except U+0000 is stored unchanged': () => {
    const stored = range(0x110).flatMap((block) => {
      const points = range(0x1000).map((n) => block * 0x1000 + n);
      const text = String.fromCodePoint(...points.filter(isAllowedCodePoint));
      return text === '' ? [] : plantOf('ada', BigInt(block), text, text);
    });
    return [{ writes: createAll(stored), stored }];
  },
  'names and tags are stored unchanged, including empty ones, and a missing tag stays missing': () => {
    const stored = texts.flatMap((text, n) => [
      plantOf('ada', BigInt(3 * n), text),
      plantOf('ada', BigInt(3 * n + 1), 'x', text),
      plantOf('ada', BigInt(3 * n + 2), text.repeat(5000)),
    ]);
    return [{ writes: createAll(stored), stored }];
  },
  'users of up to 255 UTF-8 bytes are distinguished by every byte': () => {
    const names = [...texts.filter((text) => text !== ''), ...trickyUsers, ...longUsers];
    const stored = names.map((user, n) => plantOf(user, 7n, `plant ${n}`)).sort(compareOwned);
    const writes = createAll(shuffled(stored));
    return [
      { writes, stored },
      { writes: [remove('a', 7n)], stored: stored.filter(({ user }) => user !== 'a') },
    ];
  },
  'every plant is returned, even with a name of 440000 code units, or with long names after short ones': () => {
    const lengths = range(12).map((n) => n * 40_000);
    const stored = [...lengths.map((length) => 'é'.repeat(length)), ...range(50).map(String)].flatMap((name, n) => [
      plantOf('ada', BigInt(n), name),
      plantOf('ada', BigInt(n + 100), 'x'.repeat(n % 7 === 3 ? 1000 : 5), n % 11 === 5 ? 'y'.repeat(5000) : undefined),
      plantOf('bob', BigInt(n), '"'.repeat(n * 500), 'x'),
    ]);
    const writes = createAll(stored);
    return [
      { writes: writes.slice(0, 40), stored: stored.slice(0, 40).sort(compareOwned) },
      { writes: writes.slice(40), stored: stored.toSorted(compareOwned), limits: [1000, 20, 1] },
    ];
  },
};

/** Registers the tests for `commit`, and for the plants that are stored after it. */
export function testCommit({ test }: Suite): void {
  for (const [title, steps] of Object.entries(tests)) {
    test(title, async ({ open }) => {
      const storage = await open();
      for (const { writes, outcomes = writes.map(() => true), stored, limits = [1000] } of steps()) {
        const contract = 'commit must return one outcome for each write: whether the write has changed the storage.';
        expectEqual(await storage.commit(writes), outcomes, contract);
        await expectStored(storage, stored, { limits });
      }
    });
  }

  test('commit copies the objects that it is given', async ({ open }) => {
    const storage = await open();
    const owned = plantOf('ada', 1n, 'Fern');
    await storage.commit(createAll([owned]));
    owned.plant.name = 'changed';
    const contract = 'A stored plant must not change when the caller changes an object that it passed to commit.';
    await expectStored(storage, [plantOf('ada', 1n, 'Fern')], { contract });
  });
}

function isAllowedCodePoint(point: number): boolean {
  return point !== 0 && !(point >= 0xd800 && point <= 0xdfff);
}

/** Registers the tests for a PlantStore that uses the adapter. */
export function testUnderPlantStore({ test }: Suite): void {
  test('of many concurrent creates of the same plant, exactly one succeeds', async ({ open }) => {
    const store = new PlantStore({ storage: await open() });
    const attempts = range(400).map((n) => store.createPlant('ada', { id: Math.floor(n / 10), name: `${n}` }));
    const settled = await Promise.allSettled(attempts);
    const created = range(400).filter((n) => settled[n]?.status === 'fulfilled');
    const contract = 'Of ten concurrent creates of the same plant, exactly one must succeed.';
    const plants = created.map((n) => Math.floor(n / 10)).sort((a, b) => a - b);
    expectEqual(plants, range(40), contract);
    for (const [n, attempt] of attempts.entries()) {
      if (!created.includes(n)) await expectCode(attempt, 'id_taken', 'The other creates must reject with id_taken.');
    }
    const listed = idsOf(await store.listPlants('ada', { limit: 1000 }));
    expectEqual(listed, range(40).map(BigInt), 'The list must contain each of the 40 plants exactly once.');
    const deleted = await Promise.all(range(80).map((n) => store.deletePlant('ada', n >> 1)));
    const outcomes = range(40).map((id) => deleted.slice(2 * id, 2 * id + 2).sort());
    const expected = range(40).map(() => [false, true]);
    expectEqual(outcomes, expected, 'Of two concurrent deletes of the same plant, exactly one must return true.');
  });
}
