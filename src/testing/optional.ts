import { maxInt64, minInt64 } from '../model/int64.ts';
import type { PlantId } from '../model/plant.ts';
import { expect, expectEqual } from './expect.ts';
import { all, create, ids, range, readAllJson } from './plants.ts';
import type { Suite, SuiteTest } from './suite.ts';
import type { JsonPage, StorageAdapter } from '../storage/storage-adapter.ts';

type ListJson = NonNullable<StorageAdapter['listJson']>;
type NamedPlant = [id: PlantId, name: string, tag?: string | undefined];

/** Registers the tests for the optional `listJson` method, which returns the same plants as `list`, but as JSON. */
export function testListJson({ test }: Suite): void {
  /**
   * Opens an adapter and stores these plants. Returns the `listJson` method of the adapter. If the adapter does not
   * have this method, skips the test.
   */
  async function withPlants({ open, skipWithout }: SuiteTest, plants: NamedPlant[]): Promise<ListJson> {
    const storage = await open();
    if (storage.listJson === undefined) return skipWithout('listJson');
    await storage.commit(plants.map(([id, name, tag]) => create('ada', id, name, tag)));
    return storage.listJson.bind(storage);
  }

  test('listJson returns an empty array if the range contains no plant', async (t) => {
    const listJson = await withPlants(t, [[1n, 'Fern']]);
    const empty: JsonPage = { json: '[]', count: 0, last: undefined, hasMore: false };
    const contract = 'If the range contains no plant, listJson must return an empty array, and last must be undefined.';
    expectEqual(await listJson('nobody', { after: undefined, limit: 10 }), empty, contract);
    expectEqual(await listJson('ada', { after: 1n, limit: 10 }), empty, contract);
    expectEqual(await listJson('ada', { after: maxInt64, limit: 10 }), empty, contract);
  });

  test('listJson returns the plants after an id, up to the limit, and whether there are more', async (t) => {
    const listJson = await withPlants(t, [
      [minInt64, 'a'],
      [0n, 'b', 'x'],
      [maxInt64, 'c', ''],
    ]);
    const [a, b, c] = ['{"name":"a"}', '{"name":"b","tag":"x"}', '{"name":"c","tag":""}'];
    const expectPage = async (after: PlantId | undefined, limit: number, expected: JsonPage): Promise<void> => {
      const contract = `listJson(after: ${after ?? 'undefined'}, limit: ${limit}) must return this page.`;
      expectEqual(await listJson('ada', { after, limit }), expected, contract);
    };
    await expectPage(undefined, 2, { json: `[${a},${b}]`, count: 2, last: 0n, hasMore: true });
    await expectPage(undefined, 3, { json: `[${a},${b},${c}]`, count: 3, last: maxInt64, hasMore: false });
    await expectPage(undefined, 1000, { json: `[${a},${b},${c}]`, count: 3, last: maxInt64, hasMore: false });
    await expectPage(minInt64, 1, { json: `[${b}]`, count: 1, last: 0n, hasMore: true });
    await expectPage(0n, 1, { json: `[${c}]`, count: 1, last: maxInt64, hasMore: false });
  });

  test('listJson ignores the plants of other users, and so does hasMore', async ({ open, skipWithout }) => {
    const storage = await open();
    if (storage.listJson === undefined) return skipWithout('listJson');
    const count = 200;
    await storage.commit(range(count).map((n) => create('ada', BigInt(n), 'mine')));
    await storage.commit(
      ['ad', 'ada ', 'bob'].flatMap((user) => [create(user, 7n, 'other'), create(user, 1000n, 'other')]),
    );
    const json = `[${range(count)
      .map(() => '{"name":"mine"}')
      .join(',')}]`;
    for (const limit of [count, 1000]) {
      const page = await storage.listJson('ada', { after: undefined, limit });
      const contract =
        'listJson must return only the plants of the given user, and hasMore must be false after the last one.';
      expectEqual(page, { json, count, last: BigInt(count - 1), hasMore: false }, contract);
    }
    const { hasMore } = await storage.listJson('ada', { after: undefined, limit: count - 1 });
    expectEqual(hasMore, true, 'hasMore must be true if the user has more plants than the limit allows.');
  });

  test('listJson escapes every character that JSON requires to be escaped', async (t) => {
    const texts = range(0x800)
      .filter((point) => point > 0)
      .map((point) => String.fromCodePoint(point));
    texts.push('\u2028', '\uFEFF', '\uFFFF', '\u{1F33F}', '\u{10FFFF}', '\\u0041', '"}]', "'", '');
    const plants = texts.map((text, n): NamedPlant => (n % 2 === 0 ? [BigInt(n), text] : [BigInt(n), 'x', text]));
    const listJson = await withPlants(t, plants);
    const expected = plants.map(([, name, tag]) => (tag === undefined ? { name } : { name, tag }));
    expectEqual(
      await readAllJson(listJson),
      expected,
      'When the JSON is parsed, names and tags must be the same as those that were stored.',
    );
  });

  test('listJson may return fewer plants than the limit if names are very long, with hasMore set', async (t) => {
    const plants = range(30).map((n): NamedPlant => [BigInt(n), `${n}`.repeat(20_000)]);
    const listJson = await withPlants(t, plants);
    const page = await listJson('ada', { after: undefined, limit: 1000 });
    expect(
      page.count >= 9,
      `listJson returned ${page.count} plants of at most 40000 code units each. It must return at least 9.`,
    );
    expectEqual(
      page.hasMore,
      page.count < 30,
      'hasMore must be true if and only if the user has plants after this page.',
    );
    expectEqual(
      await readAllJson(listJson),
      plants.map(([, name]) => ({ name })),
      'The pages of listJson must contain every plant exactly once.',
    );
  });

  test('listJson returns every plant if some names are long and others are short', async (t) => {
    const nameOf = (n: number): string => 'x'.repeat(n % 7 === 3 ? 1000 : 5);
    const plants = range(50).map((n): NamedPlant => [
      BigInt(n),
      nameOf(n),
      n % 11 === 5 ? 'y'.repeat(5000) : undefined,
    ]);
    const listJson = await withPlants(t, plants);
    const expected = plants.map(([, name, tag]) => (tag === undefined ? { name } : { name, tag }));
    expectEqual(await readAllJson(listJson), expected, 'The pages of listJson must contain every plant exactly once.');
  });
}

/** Registers the tests for the optional `dataVersion` method. */
export function testDataVersion({ test, options: { persistent } }: Suite): void {
  test('dataVersion changes with a commit of another adapter', async ({ createLocation, open, skipWithout }) => {
    const location = await createLocation();
    const storage = await open(location);
    if (storage.dataVersion === undefined) return skipWithout('dataVersion');
    const other = await open(location);
    await storage.commit([create('ada', 1n)]);
    const before = storage.dataVersion();
    await other.commit([create('ada', 2n)]);
    const between = storage.dataVersion();
    if (persistent) {
      expect(
        between !== before,
        `dataVersion is still ${before} after a commit of another adapter. It must have changed.`,
      );
    } else expectEqual(between, before, 'dataVersion must not change if list does not change.');
    expectEqual(
      ids(await all(storage, 'ada')),
      persistent ? [1n, 2n] : [1n],
      'list must return exactly the plants that exist when dataVersion is called.',
    );
  });
}
