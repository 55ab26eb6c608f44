import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseListQuery } from '../../src/http/list.ts';
import { namesIn } from '../support/call.ts';
import type { Answered } from '../support/call.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { sourceUrl } from '../support/sources.ts';
import { createPlants } from '../support/stored-plants.ts';

const upTo = (count: number): string[] => Array.from({ length: count }, (_, id) => `${id}`);

/** Requests all pages by following `Link`, and returns the names on each page. */
async function follow(service: Service, first: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let target: string | undefined = first; target !== undefined;) {
    const answered: Answered = await service.call('GET', target);
    assert.equal(answered.status, 200);
    pages.push(namesIn(answered));
    target = /^<([^>]+)>; rel="next"$/.exec(answered.headers.get('link') ?? '')?.[1];
  }
  return pages;
}

describe('GET /plants', () => {
  it('returns as many plants as limit allows, even if this requires several reads', async (t) => {
    const service = await startService(t);
    await createPlants(service.store, 2500);
    for (const limit of [998, 999, 1000, 1001, 1999, 2000, 2001, 2499, 2500, 2501, 2_147_483_647]) {
      const pages = await follow(service, `/plants?limit=${limit}`);
      for (const page of pages.slice(0, -1)) assert.equal(page.length, limit);
      assert.ok((pages.at(-1)?.length ?? 0) <= limit);
      assert.deepEqual(pages.flat(), upTo(2500));
    }
    assert.deepEqual(await follow(service, '/plants'), [upTo(2500)]);
    assert.deepEqual(await follow(service, '/plants?limit=1500&after=2499'), [[]]);
  });
});

describe('a list longer than 64 KiB', () => {
  it('is sent completely, even if a piece would end inside a surrogate pair', async (t) => {
    const service = await startService(t);
    // Each name is one code unit longer than the previous name, so that pieces end before, between and after
    // surrogates.
    const plants = ['', 'x', 'xy'].map((start, id) => ({ id, name: `${start}${'\u{1F33F}'.repeat(16_000)}` }));
    for (const plant of plants) await service.store.createPlant('ada', plant);
    for (const target of ['/plants', '/plants?limit=3', '/plants?limit=2']) {
      const answered = await service.call('GET', target);
      const expected = plants.slice(0, target.endsWith('2') ? 2 : 3).map(({ name }) => ({ name }));
      assert.equal(answered.headers.get('content-length'), `${Buffer.byteLength(answered.text)}`);
      assert.deepEqual(answered.json, expected);
    }
  });
});

describe('a long list', () => {
  it('does not keep sent pages in memory', async () => {
    const code = `
      import { listAnswer } from '${sourceUrl('http/list.ts')}';
      import { MemoryStorage, PlantStore } from '${sourceUrl('index.ts')}';
      const storage = new MemoryStorage();
      const pages = [];
      storage.listPages = async ([{ user, after = 0n }]) => {
        const page = { json: '[{"name":"Fern"}]', count: 1, last: after + 1n, hasMore: true };
        pages.push(new WeakRef(page));
        return [page];
      };
      const store = new PlantStore({ storage, maxCacheBytes: 0 });
      const kept = [];
      for (const limit of [undefined, 4]) {
        const { body } = await listAnswer(store, { user: 'ada', limit, path: '/plants', request: { isOpen: true } });
        for (let n = 0; n < 4; n++) await body.next();
        // A WeakRef keeps its target until the end of the event loop iteration.
        await new Promise((resolve) => setTimeout(resolve));
        gc();
        kept.push(pages.splice(0).filter((page) => page.deref() !== undefined).length);
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
