import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { answerList, parseListQuery } from '../../src/http/list.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { namesIn } from '../support/call.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { describeOnBothFronts } from '../support/service.ts';
import { sourceUrl } from '../support/sources.ts';
import { createPlants } from '../support/stored-plants.ts';

describeOnBothFronts('GET /plants', (startService) => {
  it('ends a page before the plant that would make it longer than 256 KiB, and says so in Link', async (t) => {
    const service = await startService(t);
    await createPlants(service.store, 6, '\u{1F33F}'.repeat(16_000));
    const names: string[] = [];
    for (let target: string | undefined = '/plants?limit=6'; target !== undefined;) {
      const answered = await service.call('GET', target);
      names.push(...namesIn(answered));
      target = /^<([^>]+)>; rel="next"$/.exec(answered.headers.get('link') ?? '')?.[1];
    }
    assert.deepEqual(namesIn(await service.call('GET', '/plants')), names);
    assert.equal(names.length, 6);
  });
});

const anyId = fc.integer({ min: 0, max: 30 });
const anyIds = fc.uniqueArray(anyId, { maxLength: 25 });
const anyChanges = fc.array(fc.array(anyId, { maxLength: 8 }), { maxLength: 15 });
const anyLimit = fc.option(fc.constant(1001), { nil: undefined });
const anyAfter = fc.option(anyId, { nil: undefined });

describe('a list that is read while plants are created and deleted', () => {
  it('contains each unchanged plant of its range once and in order', async () => {
    const property = fc.asyncProperty(anyIds, anyChanges, anyLimit, anyAfter, async (ids, changes, limit, after) => {
      const storage = new MemoryStorage();
      const store = new PlantStore({ storage, maxCacheBytes: 0 });
      const create = (id: number): Promise<unknown> => store.createPlant('ada', { id, name: `${id}` });
      await Promise.all(ids.map(create));
      const list = storage.list.bind(storage);
      const changed = new Set<number>();
      let reads = 0;
      // Pages are short, so that a long list requires only a few plants.
      storage.list = async (user, range) => {
        for (const id of changes[reads++] ?? []) {
          changed.add(id);
          if (!(await store.deletePlant('ada', id))) await create(id);
        }
        return list(user, { after: range.after, limit: Math.min(range.limit, 3) });
      };
      const range = { limit, after: after === undefined ? undefined : BigInt(after) };
      const { headers, body = '' } = await answerList(store, 'ada', range, '/plants');
      let json = '';
      if (typeof body === 'string') json = body;
      else if ('next' in body) for await (const page of body) json += Buffer.from(page).toString();
      const names = (JSON.parse(json) as { name: string }[]).map(({ name }) => Number(name));
      assert.equal(headers, undefined);
      for (const [n, id] of names.entries()) assert.ok(id > (names[n - 1] ?? after ?? -1), 'the order is wrong');
      for (const id of names) assert.ok(ids.includes(id) || changed.has(id), `there was no plant ${id}`);
      for (const id of ids) assert.ok(id <= (after ?? -1) || changed.has(id) || names.includes(id), `${id} is missing`);
    });
    const emptied = [[0, 1, 2, 3], [[], [3]], undefined, undefined] as const;
    await fc.assert(property, { numRuns: 500, examples: [structuredClone(emptied) as never] });
  });
});

describe('a long list', () => {
  it('does not keep sent pages in memory', async () => {
    const code = `
      import { answerList } from '${sourceUrl('http/list.ts')}';
      const pages = [];
      const store = {
        listPageJson: async (user, { after = 0n }) => {
          const page = { json: '[{"name":"Fern"}]', count: 1, lastId: after + 1n, hasMore: true };
          pages.push(new WeakRef(page));
          return page;
        },
      };
      const kept = [];
      for (const limit of [undefined, 1004]) {
        const { body } = await answerList(store, 'ada', { limit, after: undefined }, '/plants');
        const sent = [];
        for (let n = 0; n < 4; n++) sent.push(new WeakRef((await body.next()).value));
        // A WeakRef keeps its target until the end of the event loop iteration.
        await new Promise((resolve) => setTimeout(resolve));
        gc();
        kept.push([...pages.splice(0), ...sent].filter((page) => page.deref() !== undefined).length);
      }
      console.log(String(kept));
    `;
    assert.equal(await runSuccessfully(process.execPath, ['--expose-gc', ...evalArgs(code)]), '1,1\n');
  });
});

describe('parseListQuery', () => {
  it('accepts leading zeros, and ignores a parameter whose name begins with a question mark', () => {
    assert.deepEqual(parseListQuery('limit=002'), { limit: 2, after: undefined });
    assert.deepEqual(parseListQuery('?limit=1'), { limit: undefined, after: undefined });
    assert.deepEqual(parseListQuery('?limit=1&limit=2'), { limit: 2, after: undefined });
  });
});
