import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Pages, Result } from '../../src/http/exchange.ts';
import { parseListQuery, readList } from '../../src/http/list.ts';
import type { ServiceStore } from '../../src/http.ts';
import { PlantStore } from '../../src/index.ts';
import type { JsonPage, ListOptions } from '../../src/index.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { HookedStorage } from '../support/hooked-storage.ts';

async function textOf(body: Result['body']): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  if (body !== undefined && 'next' in body) for await (const page of body) text += Buffer.from(page).toString();
  return text;
}

const anyId = fc.integer({ min: 0, max: 30 });
const anyIds = fc.uniqueArray(anyId, { maxLength: 25 });
const anyChanges = fc.array(fc.array(anyId, { maxLength: 8 }), { maxLength: 15 });
const anyLimit = fc.option(fc.constant(1001), { nil: undefined });
const anyAfter = fc.option(anyId, { nil: undefined });

it('a list that is read during changes contains each unchanged plant of its range once and in order', async () => {
  const property = fc.asyncProperty(anyIds, anyChanges, anyLimit, anyAfter, async (ids, changes, limit, after) => {
    const storage = new HookedStorage();
    // With short pages, a long list requires only a few plants.
    storage.maxPage = 3;
    const store = new PlantStore({ storage, maxCacheBytes: 0 });
    const create = (id: number): Promise<unknown> => store.createPlant('ada', { id, name: `${id}` });
    await Promise.all(ids.map(create));
    const changed = new Set<number>();
    let reads = 0;
    storage.beforeList = async () => {
      for (const id of changes[reads++] ?? []) {
        changed.add(id);
        if (!(await store.deletePlant('ada', id))) await create(id);
      }
    };
    const range = { limit, after: after === undefined ? undefined : BigInt(after) };
    const { headers, body } = await readList(store, 'ada', range, '/plants');
    const names = (JSON.parse(await textOf(body)) as { name: string }[]).map(({ name }) => Number(name));
    assert.equal(headers, undefined);
    for (const [n, id] of names.entries()) assert.ok(id > (names[n - 1] ?? after ?? -1), 'the order is wrong');
    for (const id of names) assert.ok(ids.includes(id) || changed.has(id), `there was no plant ${id}`);
    for (const id of ids) assert.ok(id <= (after ?? -1) || changed.has(id) || names.includes(id), `${id} is missing`);
  });
  const emptied = [[0, 1, 2, 3], [[], [3]], undefined, undefined] as const;
  await fc.assert(property, { numRuns: 300, examples: [structuredClone(emptied) as never] });
});

it('a long list does not keep sent pages in memory', async () => {
  const read: WeakRef<JsonPage>[] = [];
  const store = {
    listPageJson: (_: string, { after = 0n }: ListOptions) => {
      const page = { json: '[{"name":"Fern"}]', count: 1, lastId: BigInt(after) + 1n, hasMore: true };
      read.push(new WeakRef(page));
      return Promise.resolve(page);
    },
  } as ServiceStore;
  const { body } = await readList(store, 'ada', {}, '/plants');
  const sent: WeakRef<object>[] = [];
  for (let n = 0; n < 4; n++) sent.push(new WeakRef((await (body as Pages).next()).value as object));
  await nextTurn();
  collectGarbage();
  assert.equal([...read, ...sent].filter((page) => page.deref() !== undefined).length, 1, 'only the page in progress');
});

it('parseListQuery accepts leading zeros, and ignores a parameter whose name begins with a question mark', () => {
  assert.deepEqual(parseListQuery('limit=002'), { limit: 2, after: undefined });
  assert.deepEqual(parseListQuery('?limit=1'), { limit: undefined, after: undefined });
  assert.deepEqual(parseListQuery('?limit=1&limit=2'), { limit: 2, after: undefined });
});
