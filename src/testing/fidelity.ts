import { expectEqual } from './expect.ts';
import { all, create, range, remove } from './plants.ts';
import type { Suite } from './suite.ts';

const texts = [
  ...['', ' ', 'a', 'A', 'a ', 'é', 'e\u0301', "'; DROP TABLE plants; --", '\\', 'a\\b"c\nd', '%_', '"', '\u{1F33F}'],
  ...['\uFEFF', '\uFFFD', '\uFFFF', '\t\r\n', '0', '1e3', 'null'],
];

/** Registers the tests that names, tags and users are stored unchanged. */
export function testFidelity({ test }: Suite): void {
  test('every Unicode character but U+0000 is stored as it is', async ({ open }) => {
    const storage = await open();
    const planes = range(0x110).map((block) =>
      range(0x1000)
        .map((n) => block * 0x1000 + n)
        .filter(isAllowedCodePoint),
    );
    const names = planes.filter((points) => points.length > 0).map((points) => String.fromCodePoint(...points));
    await storage.commit(names.map((name, n) => create('ada', BigInt(n), name, name)));
    const plants = names.map((name, n) => ({ id: BigInt(n), name, tag: name }));
    expectEqual(
      await all(storage, 'ada'),
      plants,
      'list must return names and tags with every character that was stored.',
    );
  });

  test('names and tags are stored exactly, the empty ones too, and an absent tag stays absent', async ({ open }) => {
    const storage = await open();
    const plants = texts.flatMap((text, n) => [
      { id: BigInt(n), name: text },
      { id: BigInt(n + texts.length), name: 'x', tag: text },
      { id: BigInt(n + 2 * texts.length), name: text.repeat(5000) },
    ]);
    await storage.commit(plants.map((plant) => ({ kind: 'create', user: 'ada', plant })));
    const byId = plants.toSorted((a, b) => Number(a.id - b.id));
    const contract = `list must return names and tags exactly: '' is a tag, and a plant without a tag has no key tag.`;
    expectEqual(await all(storage, 'ada'), byId, contract);
  });

  test('users are different if they differ in anything, up to 255 bytes of UTF-8', async ({ open }) => {
    const storage = await open();
    const users = [
      ...texts.filter((text) => text !== ''),
      'x'.repeat(254),
      'x'.repeat(255),
      `${'é'.repeat(127)}x`,
      `${'é'.repeat(127)}y`,
    ];
    const outcomes = await storage.commit(users.map((user, n) => create(user, 7n, `plant ${n}`)));
    expectEqual(
      outcomes,
      users.map(() => true),
      'Every user must be able to have a plant with the same id.',
    );
    await storage.commit([remove('a', 7n)]);
    for (const [n, user] of users.entries()) {
      const contract = `list must tell the user ${JSON.stringify(user)} apart from every other user.`;
      expectEqual(await all(storage, user), user === 'a' ? [] : [{ id: 7n, name: `plant ${n}` }], contract);
    }
  });
}

function isAllowedCodePoint(point: number): boolean {
  return point !== 0 && !(point >= 0xd800 && point <= 0xdfff);
}
