import { maxInt64, minInt64 } from '../model/int64.ts';
import { plantJson } from '../model/plant.ts';
import { expect, expectEqual } from './expect.ts';
import { all, create, expectEnd, ids, range, remove, shuffled } from './plants.ts';
import type { Suite } from './suite.ts';

/** Registers the tests for `list`. */
export function testList({ test }: Suite): void {
  test('list returns nothing for a user without plants', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n)]);
    expectEqual(await all(storage, 'nobody'), [], 'list must return only the plants of the given user.');
  });

  test('list sorts ids as numbers, in the whole int64 range', async ({ open }) => {
    const storage = await open();
    const sorted = [
      ...[minInt64, minInt64 + 1n, -9007199254740993n, -10n, -9n, -1n, 0n, 1n, 9n, 10n],
      ...[2n ** 53n, 2n ** 53n + 1n, maxInt64 - 1n, maxInt64],
    ];
    const contract = 'list must return every id unchanged, in ascending order.';
    await storage.commit(shuffled(sorted).map((id) => create('ada', id)));
    expectEqual(ids(await all(storage, 'ada')), sorted, contract);
    expectEqual(ids(await storage.list('ada', { after: undefined, limit: 50 })), sorted, contract);
  });

  test('list returns the plants after an id, up to the limit', async ({ open }) => {
    const storage = await open();
    await storage.commit([10n, 20n, 30n].map((id) => create('ada', id)));
    const expectList = async (after: bigint | undefined, limit: number, expected: bigint[]): Promise<void> => {
      const call = `list(after: ${after ?? 'undefined'}, limit: ${limit})`;
      const contract = `If the stored ids are 10, 20 and 30, ${call} must return ${expected.join(', ') || 'nothing'}.`;
      expectEqual(ids(await storage.list('ada', { after, limit })), expected, contract);
    };
    await expectList(undefined, 2, [10n, 20n]);
    await expectList(undefined, 2_147_483_647, [10n, 20n, 30n]);
    await expectList(10n, 1, [20n]);
    await expectList(15n, 5, [20n, 30n]);
    await expectList(30n, 5, []);
    await expectList(minInt64, 1, [10n]);
    await expectList(maxInt64, 5, []);
  });

  test('list returns each of 5000 plants exactly once, page by page, while other plants change', async ({ open }) => {
    const storage = await open();
    const kept = range(5000).map((n) => BigInt(n) * 3n);
    const writes = shuffled(kept).map((id) => create('ada', id));
    for (let at = 0; at < writes.length; at += 1000) await storage.commit(writes.slice(at, at + 1000));
    const seen: bigint[] = [];
    let count = 0;
    for (let after: bigint | undefined; ;) {
      const page = ids(await storage.list('ada', { after, limit: 617 }));
      seen.push(...page.filter((id) => id % 3n === 0n));
      expectEnd('list', (count += page.length));
      after = page.at(-1);
      if (after === undefined) break;
      await storage.commit([create('ada', after - 1n), remove('ada', after - 2n), create('bob', after)]);
    }
    expectEqual(
      seen,
      kept,
      'When paging, list must return every plant that is stored during the whole test exactly once.',
    );
    const page = await storage.list('ada', { after: undefined, limit: 1500 });
    expectEqual(page.length, 1500, 'If names and tags are short, list must return as many plants as the limit allows.');
  });

  test('list returns fewer plants than the limit only if their JSON reaches 262144 bytes', async ({ open }) => {
    const storage = await open();
    // These characters take one, three and six bytes in JSON.
    for (const letter of ['x', '\u2698', '\u0001']) {
      const plants = range(20).map((n) => ({ id: BigInt(n), name: letter.repeat(20_000), tag: letter.repeat(10_000) }));
      await storage.commit(plants.map((plant) => ({ kind: 'create', user: letter, plant })));
      const page = await storage.list(letter, { after: undefined, limit: 1000 });
      const bytes = Buffer.byteLength(page.map(plantJson).join(''));
      const rule = 'list may return fewer plants than the limit only if their JSON has at least 262144 bytes.';
      expect(
        page.length === 20 || bytes >= 262_144,
        `list returned ${page.length} of 20 plants, and their JSON has ${bytes} bytes. ${rule}`,
      );
      expectEqual(
        page,
        plants.slice(0, page.length),
        'If list returns fewer plants than the limit, it must return the first ones.',
      );
      expectEqual(
        await all(storage, letter),
        plants,
        'If a page has fewer plants than the limit, the pages that follow must contain the other plants.',
      );
      const few = await storage.list(letter, { after: undefined, limit: 2 });
      expectEqual(
        few.length,
        2,
        'If the limit is 2 and the JSON of the first plant has less than 262144 bytes, list must return 2 plants.',
      );
    }
  });

  test('list returns new plain objects, which the caller may change', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n, 'Fern')]);
    const [plant] = await all(storage, 'ada');
    expect(plant !== undefined, 'list must return the plant that was stored. It returned nothing.');
    expect(
      Object.getPrototypeOf(plant) === Object.prototype,
      'list must return plain objects. The prototype of its plant is not Object.prototype.',
    );
    plant.name = 'changed';
    const contract = 'A stored plant must not change when the caller changes an object that list returned.';
    expectEqual(await all(storage, 'ada'), [{ id: 1n, name: 'Fern' }], contract);
  });

  test('list returns the plants of every resolved commit, even during another commit', async ({ open }) => {
    const storage = await open();
    for (const n of range(50)) {
      const earlier = BigInt(n) * 2n;
      await storage.commit([create('ada', earlier)]);
      const [listed] = await Promise.all([all(storage, 'ada'), storage.commit([create('ada', earlier + 1n)])]);
      expect(
        ids(listed).includes(earlier),
        `list did not return plant ${earlier}, although its commit had resolved. ` +
          'When a commit resolves, every later list must return its plants.',
      );
    }
    expectEqual(
      ids(await all(storage, 'ada')),
      range(100).map(BigInt),
      'list must return the plants of all 100 resolved commits.',
    );
  });
}
