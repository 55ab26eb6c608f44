import assert from 'node:assert/strict';
import { it } from 'node:test';
import { maxInt64, minInt64 } from '../int64.ts';
import type { Plant, PlantId } from '../plant.ts';
import type { OpenPlace, StorageAdapterTestOptions } from './conformance.ts';
import { all, create, range, remove } from './conformance-cases.ts';
import type { Open } from './conformance-cases.ts';
import type { JsonPage, StorageAdapter } from './storage-adapter.ts';

type ListJson = NonNullable<StorageAdapter['listJson']>;

/** What the contract says of the optional `listJson`: the same plants as `list`, as JSON. */
export function testListJson(open: Open): void {
  /** An adapter with these plants, and its `listJson`; `undefined` where it has none. */
  async function withPlants(t: Parameters<Open>[0], plants: [id: PlantId, name: string, tag?: string | undefined][]): Promise<ListJson | undefined> {
    const storage = await open(t);
    if (storage.listJson === undefined) {
      t.diagnostic('This adapter has no listJson.');
      return undefined;
    }
    await storage.commit(plants.map(([id, name, tag]) => create('ada', id, name, tag)));
    return storage.listJson.bind(storage);
  }

  it('answers an empty array where there is nothing', async (t) => {
    const listJson = await withPlants(t, [[1n, 'Fern']]);
    if (listJson === undefined) return;
    const empty: JsonPage = { json: '[]', count: 0, last: undefined, hasMore: false };
    assert.deepEqual(await listJson('nobody', { after: undefined, limit: 10 }), empty);
    assert.deepEqual(await listJson('ada', { after: 1n, limit: 10 }), empty);
    assert.deepEqual(await listJson('ada', { after: maxInt64, limit: 10 }), empty);
  });

  it('answers up to the limit, greater than after, and whether there is more', async (t) => {
    const listJson = await withPlants(t, [[minInt64, 'a'], [0n, 'b', 'x'], [maxInt64, 'c', '']]);
    if (listJson === undefined) return;
    const [a, b, c] = ['{"name":"a"}', '{"name":"b","tag":"x"}', '{"name":"c","tag":""}'];
    const page = (...[after, limit]: [PlantId | undefined, number]): Promise<JsonPage> => listJson('ada', { after, limit });
    assert.deepEqual(await page(undefined, 2), { json: `[${a},${b}]`, count: 2, last: 0n, hasMore: true });
    assert.deepEqual(await page(undefined, 3), { json: `[${a},${b},${c}]`, count: 3, last: maxInt64, hasMore: false });
    assert.deepEqual(await page(undefined, 1000), { json: `[${a},${b},${c}]`, count: 3, last: maxInt64, hasMore: false });
    assert.deepEqual(await page(minInt64, 1), { json: `[${b}]`, count: 1, last: 0n, hasMore: true });
    assert.deepEqual(await page(0n, 1), { json: `[${c}]`, count: 1, last: maxInt64, hasMore: false });
  });

  it('shows nothing of other users, nor takes it for more', async (t) => {
    const storage = await open(t);
    if (storage.listJson === undefined) {
      t.diagnostic('This adapter has no listJson.');
      return;
    }
    const count = 200;
    await storage.commit(range(count).map((n) => create('ada', BigInt(n), 'mine')));
    await storage.commit(['ad', 'ada ', 'bob'].flatMap((user) => [create(user, 7n, 'other'), create(user, 1000n, 'other')]));
    const json = `[${range(count).map(() => '{"name":"mine"}').join(',')}]`;
    for (const limit of [count, 1000]) {
      const page = await storage.listJson('ada', { after: undefined, limit });
      assert.deepEqual(page, { json, count, last: BigInt(count - 1), hasMore: false });
    }
    assert.equal((await storage.listJson('ada', { after: undefined, limit: count - 1 })).hasMore, true);
  });

  it('writes every character as JSON has it', async (t) => {
    const texts = range(0x800).filter((point) => point > 0).map((point) => String.fromCodePoint(point));
    texts.push('\u2028', '\uFEFF', '\uFFFF', '\u{1F33F}', '\u{10FFFF}', '\\u0041', '"}]', "'", '');
    const plants = texts.map((text, n): [bigint, string, string?] => (n % 2 === 0 ? [BigInt(n), text] : [BigInt(n), 'x', text]));
    const listJson = await withPlants(t, plants);
    if (listJson === undefined) return;
    const expected = plants.map(([, name, tag]) => (tag === undefined ? { name } : { name, tag }));
    assert.deepEqual(await readAll(listJson), expected);
  });

  it('stops before the limit, if at all, where names are very long, and says that there is more', async (t) => {
    const plants = range(30).map((n): [bigint, string] => [BigInt(n), `${n}`.repeat(20_000)]);
    const listJson = await withPlants(t, plants);
    if (listJson === undefined) return;
    const page = await listJson('ada', { after: undefined, limit: 1000 });
    assert.ok(page.count >= 9, `${page.count} plants`);
    assert.equal(page.hasMore, page.count < 30);
    assert.deepEqual(await readAll(listJson), plants.map(([, name]) => ({ name })));
  });

  it('leaves out no plant where some names are long and some are not', async (t) => {
    const plants = range(50).map((n): [bigint, string, string | undefined] => [BigInt(n), 'x'.repeat(n % 7 === 3 ? 1000 : 5), n % 11 === 5 ? 'y'.repeat(5000) : undefined]);
    const listJson = await withPlants(t, plants);
    if (listJson === undefined) return;
    assert.deepEqual(await readAll(listJson), plants.map(([, name, tag]) => (tag === undefined ? { name } : { name, tag })));
  });
}

/** What the contract says of the optional `dataVersion`. */
export function testDataVersion(open: OpenPlace, makePlace: StorageAdapterTestOptions['makePlace'], isShared: boolean): void {
  it('stays the same over commits of its own, and changes with those of another adapter', async (t) => {
    const place = await makePlace(t);
    const [storage, other] = [await open(t, place), await open(t, place)];
    if (storage.dataVersion === undefined) {
      t.diagnostic('This adapter has no dataVersion.');
      return;
    }
    const before = storage.dataVersion();
    await storage.commit([create('ada', 1n)]);
    assert.equal(storage.dataVersion(), before);
    await other.commit([create('ada', 2n)]);
    if (isShared) assert.notEqual(storage.dataVersion(), before);
    else assert.equal(storage.dataVersion(), before);
    const between = storage.dataVersion();
    assert.equal((await all(storage, 'ada')).length, isShared ? 2 : 1);
    await storage.commit([remove('ada', 1n)]);
    assert.equal(storage.dataVersion(), between);
  });
}

async function readAll(listJson: ListJson): Promise<Plant[]> {
  const plants: Plant[] = [];
  for (let after: bigint | undefined, hasMore = true; hasMore; ) {
    const page = await listJson('ada', { after, limit: 1000 });
    const read = JSON.parse(page.json) as Plant[];
    assert.equal(read.length, page.count);
    plants.push(...read);
    ({ last: after, hasMore } = page);
  }
  return plants;
}
