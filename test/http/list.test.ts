import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { parseListQuery } from '../../src/http/list.ts';
import { namesIn, outcome } from '../support/call.ts';
import type { Answered } from '../support/call.ts';
import { listRequest, RawConnection } from '../support/raw-http.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { sourceUrl } from '../support/sources.ts';
import { createPlants } from '../support/stored-plants.ts';

const upTo = (count: number): string[] => Array.from({ length: count }, (_, id) => `${id}`);

/** Requests all pages by following `Link`, and returns the names on each. */
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

/** Asserts that the pages of each limit contain exactly that many plants, and all plants together. */
async function assertPages(service: Service, count: number, limits: readonly number[]): Promise<void> {
  for (const limit of limits) {
    const pages = await follow(service, `/plants?limit=${limit}`);
    for (const page of pages.slice(0, -1)) assert.equal(page.length, limit);
    assert.ok((pages.at(-1)?.length ?? 0) <= limit);
    assert.deepEqual(pages.flat(), upTo(count));
  }
}

/** Calls `before` with the number of each read of a list. The read fails if it throws. */
function onRead(storage: StorageAdapter, before: (read: number, count: number) => void): void {
  const list = storage.list.bind(storage);
  let reads = 0;
  storage.list = async (user, range) => {
    const page = await list(user, range);
    before(++reads, page.plants.length);
    return page;
  };
}

describe('GET /plants', () => {
  it('returns exactly limit plants, even if they take several reads', async (t) => {
    const service = await startService(t);
    await createPlants(service.store, 2500);
    await assertPages(service, 2500, [998, 999, 1000, 1001, 1999, 2000, 2001, 2499, 2500, 2501, 2_147_483_647]);
    assert.deepEqual(await follow(service, '/plants'), [upTo(2500)]);
    assert.deepEqual(await follow(service, '/plants?limit=1500&after=2499'), [[]]);
  });

  it('returns exactly limit plants with very long names, in short pages', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    const tag = 'x'.repeat(60_000);
    await Promise.all(upTo(30).map((name) => service.store.createPlant('ada', { id: Number(name), name, tag })));
    let longest = 0;
    onRead(storage, (_, count) => {
      longest = Math.max(longest, count);
    });
    assert.deepEqual(await follow(service, '/plants'), [upTo(30)]);
    await assertPages(service, 30, [1, 4, 5, 6, 7, 29, 30, 31, 1000]);
    assert.ok(longest <= 5, `${longest} plants of 60000 characters in one page`);
  });

  it('accepts leading zeros in limit', async (t) => {
    const service = await startService(t);
    await createPlants(service.store, 3);
    assert.deepEqual(await follow(service, '/plants?limit=002'), [['0', '1'], ['2']]);
  });
});

describe('a list over 64 KiB', () => {
  it('is sent completely, even if a surrogate pair is at the end of a piece', async (t) => {
    const service = await startService(t);
    // Each name is one code unit longer, so that pieces end before, between and after surrogates.
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
  it('waits for a client that does not read, and stops reading when the client disconnects', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await createPlants(service.store, 20_000, 'x'.repeat(2000));
    let reads = 0;
    onRead(storage, () => reads++);
    const connection = await RawConnection.open(t, service.port);
    connection.socket.pause();
    connection.send(listRequest);
    for (let seen = -1; reads === 0 || seen !== reads;) {
      seen = reads;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(reads < 20, `${reads} pages were read for a client that does not read`);
    connection.socket.destroy();
    await service.call('GET', '/plants?limit=0');
    const afterwards = reads;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(reads <= afterwards + 1, 'reading continued after the disconnect');
    assert.deepEqual(service.faults, []);
  });

  it('does not keep the pages that have been sent', async () => {
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

  it('is valid JSON even if the rest of it is deleted while it is read', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await createPlants(service.store, 1500);
    const list = storage.list.bind(storage);
    let reads = 0;
    storage.list = async (user, range) => (++reads > 1 ? { plants: [], hasMore: false } : list(user, range));
    assert.deepEqual(namesIn(await service.call('GET', '/plants')), upTo(1000));
  });

  it('is cut off if the storage fails, so that it does not look complete', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await createPlants(service.store, 5000);
    onRead(storage, (read) => {
      if (read > 3) throw new Error('gone');
    });
    const headers = { authorization: 'Bearer ada' };
    await assert.rejects((await fetch(`${service.url}/plants`, { headers })).text());
    assert.deepEqual(service.faults.map(String), ['PlantStoreError: The storage failed. Try again shortly.']);
    assert.deepEqual(outcome(await service.call('GET', '/plants?limit=5')), [503, 50300]);
  });
});

describe('parseListQuery', () => {
  it('ignores a parameter whose name begins with a question mark', () => {
    assert.deepEqual(parseListQuery('?limit=1'), { limit: undefined, after: undefined });
    assert.deepEqual(parseListQuery('?limit=1&limit=2'), { limit: 2, after: undefined });
  });
});
