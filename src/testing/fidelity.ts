import { expectEqual } from './expect.ts';
import { all, create, range, remove } from './plants.ts';
import type { Suite } from './suite.ts';

const texts = [
  ...['', ' ', 'a', 'A', 'a ', 'é', 'e\u0301', "'; DROP TABLE plants; --", '\\', 'a\\b"c\nd', '%_', '"', '\u{1F33F}'],
  ...['\uFEFF', '\uFFFD', '\uFFFF', '\t\r\n', '0', '1e3', 'null'],
];

/** Registers tests which verify that names, tags and users are stored unchanged. */
export function testFidelity({ test }: Suite): void {
  test('every Unicode character except U+0000 is stored unchanged', async ({ open }) => {
    const storage = await open();
    const planes = range(0x110).map((block) =>
      range(0x1000)
        .map((n) => block * 0x1000 + n)
        .filter(isAllowedCodePoint),
    );
    const names = planes.filter((points) => points.length > 0).map((points) => String.fromCodePoint(...points));
    await storage.commit(names.map((name, n) => create('ada', BigInt(n), name, name)));
    const plants = names.map((name, n) => ({ id: BigInt(n), name, tag: name }));
    expectEqual(await all(storage, 'ada'), plants, 'list must return every character of names and tags unchanged.');
  });

  test('names and tags are stored unchanged, including empty ones, and a missing tag stays missing', async ({
    open,
  }) => {
    const storage = await open();
    const plants = texts.flatMap((text, n) => [
      { id: BigInt(n), name: text },
      { id: BigInt(n + texts.length), name: 'x', tag: text },
      { id: BigInt(n + 2 * texts.length), name: text.repeat(5000) },
    ]);
    await storage.commit(plants.map((plant) => ({ kind: 'create', user: 'ada', plant })));
    const byId = plants.toSorted((a, b) => Number(a.id - b.id));
    const contract = `list must return names and tags unchanged: '' is a tag, and an absent tag is not a property.`;
    expectEqual(await all(storage, 'ada'), byId, contract);
  });

  test('users of up to 255 UTF-8 bytes are distinguished by every byte', async ({ open }) => {
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
      'commit must return true for every create, because the users are different.',
    );
    await storage.commit([remove('a', 7n)]);
    for (const [n, user] of users.entries()) {
      const contract = `list must return only the plants of the user ${JSON.stringify(user)}.`;
      expectEqual(await all(storage, user), user === 'a' ? [] : [{ id: 7n, name: `plant ${n}` }], contract);
    }
  });
}

function isAllowedCodePoint(point: number): boolean {
  return point !== 0 && !(point >= 0xd800 && point <= 0xdfff);
}
