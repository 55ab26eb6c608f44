import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pages } from '../../src/http/exchange.ts';
import { parseListQuery, readList } from '../../src/http/list.ts';
import type { ServiceStore } from '../../src/http.ts';
import { PlantStore } from '../../src/index.ts';
import type { JsonPage, ListOptions } from '../../src/index.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { createPlants } from '../support/stored-plants.ts';

it('a list is a JSON array even if plants of its next page are created or deleted meanwhile', async () => {
  for (const { limit, changed, names } of [
    { limit: undefined, changed: [4, 5, 6], names: ['1', '2', '3'] },
    { limit: 1001, changed: [0, 1, 4, 7], names: ['1', '2', '3', '5', '6', '7'] },
  ]) {
    const storage = new HookedStorage();
    // With short pages, a long list requires only a few plants.
    storage.maxPage = 3;
    const store = new PlantStore({ storage, maxCacheBytes: 0 });
    await createPlants(store, 7);
    const { headers, body } = await readList(store, 'ada', { limit, after: 0n }, '/plants');
    for (const id of changed) {
      if (!(await store.deletePlant('ada', id))) await store.createPlant('ada', { id, name: `${id}` });
    }
    let text = '';
    for await (const page of body as Pages) text += Buffer.from(page).toString();
    const listed = JSON.parse(text) as { name: string }[];
    assert.deepEqual([headers, listed.map(({ name }) => name)], [undefined, names]);
  }
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

it('a list of one page is sent as a string, or as bytes from 65,536 characters', async () => {
  for (const length of [65_535, 65_536]) {
    const page = { json: 'x'.repeat(length), count: 1, lastId: 1n, hasMore: false };
    const store = { listPageJson: () => Promise.resolve(page) } as unknown as ServiceStore;
    const { body } = await readList(store, 'ada', {}, '/plants');
    assert.equal(typeof body, length < 65_536 ? 'string' : 'object');
  }
});

it('parseListQuery accepts leading zeros, and ignores a parameter whose name begins with a question mark', () => {
  assert.deepEqual(parseListQuery('limit=002'), { limit: 2, after: undefined });
  assert.deepEqual(parseListQuery('limit=002&after=-007'), { limit: 2, after: -7n });
  assert.deepEqual(parseListQuery('?limit=1'), { limit: undefined, after: undefined });
  assert.deepEqual(parseListQuery('?limit=1&limit=2'), { limit: 2, after: undefined });
});
