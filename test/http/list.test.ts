import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { listAnswer, parseListQuery } from '../../src/http/list.ts';
import type { Answered } from '../support/call.ts';
import { listRequest, RawConnection } from '../support/raw-http.ts';
import { evalArgs, runProgram } from '../support/run-program.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { sourceUrl } from '../support/sources.ts';
import { createPlants } from '../support/stored-plants.ts';

/** Creates `count` plants of ada, with ids from 1 unless `idOf` returns others, and with their ids as names. */
async function plant(service: Service, count: number, idOf = (n: number): number => n + 1): Promise<void> {
  for (let at = 0; at < count; at += 5000) {
    const ids = Array.from({ length: Math.min(5000, count - at) }, (_, n) => idOf(at + n));
    await Promise.all(ids.map((id) => service.store.createPlant('ada', { id, name: `${id}` })));
  }
}

const names = ({ json }: Answered): number[] => (json as { name: string }[]).map(({ name }) => Number(name));
const oneTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

/** Requests all pages by following `Link`, and returns the names on each. */
async function follow(service: Service, first: string): Promise<number[][]> {
  const pages: number[][] = [];
  for (let target: string | undefined = first; target !== undefined;) {
    const answered: Answered = await service.call('GET', target);
    assert.equal(answered.status, 200);
    pages.push(names(answered));
    target = /^<([^>]+)>; rel="next"$/.exec(answered.headers.get('link') ?? '')?.[1];
  }
  return pages;
}

describe('GET /plants', () => {
  it('returns at most limit plants, and links to the next page if there is one', async (t) => {
    const service = await startService(t);
    await plant(service, 3);
    const two = await service.call('GET', '/plants?limit=2');
    assert.deepEqual(names(two), [1, 2]);
    assert.equal(two.headers.get('link'), '</plants?limit=2&after=2>; rel="next"');
    for (const query of [
      'limit=3',
      'limit=2147483647',
      'limit=2&after=1',
      'limit=0',
      '',
      'after=1',
      'unknown=1&limit=3',
      'limit=003',
    ]) {
      assert.equal((await service.call('GET', `/plants?${query}`)).headers.get('link'), null, query);
    }
    assert.deepEqual(names(await service.call('GET', '/plants?unknown=?&limit=1')), [1]);
    assert.equal((await service.call('GET', '/plants?limit=0')).text, '[]');
    assert.deepEqual(names(await service.call('GET', '/plants?after=1')), [2, 3]);
    assert.deepEqual(names(await service.call('GET', '/plants?limit=1&after=-9223372036854775808')), [1]);
    assert.deepEqual(names(await service.call('GET', '/plants?limit=1&after=9223372036854775807')), []);
  });

  it('links from each page to the next', async (t) => {
    const service = await startService(t);
    await plant(service, 25);
    assert.deepEqual(await follow(service, '/plants?limit=10'), [oneTo(10), oneTo(20).slice(10), oneTo(25).slice(20)]);
    assert.deepEqual((await follow(service, '/plants?limit=1')).flat(), oneTo(25));
    assert.deepEqual(await follow(service, '/plants?limit=25'), [oneTo(25)]);
  });

  it('returns exactly limit plants, even if they take several reads', async (t) => {
    const service = await startService(t);
    await plant(service, 2500);
    for (const limit of [998, 999, 1000, 1001, 1999, 2000, 2001, 2499]) {
      const pages = await follow(service, `/plants?limit=${limit}`);
      assert.deepEqual(pages.map(({ length }) => length).slice(0, -1), Array(pages.length - 1).fill(limit));
      assert.deepEqual(pages.flat(), oneTo(2500));
    }
    for (const limit of [2500, 2501, 2147483647]) {
      assert.deepEqual(await follow(service, `/plants?limit=${limit}`), [oneTo(2500)]);
    }
    assert.deepEqual(names(await service.call('GET', '/plants')), oneTo(2500));
    assert.deepEqual(names(await service.call('GET', '/plants?limit=1500&after=2500')), []);
  });

  it('returns exactly limit plants with very long names, in short pages', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    for (const id of oneTo(30)) await service.store.createPlant('ada', { id, name: `${id}`, tag: 'x'.repeat(60_000) });
    let longest = 0;
    const list = storage.list.bind(storage);
    storage.list = async (user, range) => {
      const page = await list(user, range);
      longest = Math.max(longest, page.plants.length);
      return page;
    };
    assert.deepEqual(names(await service.call('GET', '/plants')), oneTo(30));
    for (const limit of [1, 4, 5, 6, 7, 29, 30, 31, 1000]) {
      const pages = await follow(service, `/plants?limit=${limit}`);
      assert.deepEqual(pages.map(({ length }) => length).slice(0, -1), Array(pages.length - 1).fill(limit));
      assert.deepEqual(pages.flat(), oneTo(30));
    }
    assert.ok(longest <= 5, `${longest} plants of 60000 characters in one page`);
  });

  it('responds to HEAD as to GET without the body, for short and for long lists', async (t) => {
    const service = await startService(t);
    await plant(service, 3);
    const head = await service.call('HEAD', '/plants?limit=2');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers.get('content-length'), '27');
    assert.equal(head.headers.get('link'), '</plants?limit=2&after=2>; rel="next"');
    await plant(service, 2497, (n) => n + 4);
    const long = await service.call('HEAD', '/plants?limit=2000');
    const link = '</plants?limit=2000&after=2000>; rel="next"';
    assert.deepEqual([long.status, long.text, long.headers.get('link')], [200, '', link]);
    assert.equal((await service.call('HEAD', '/plants')).status, 200);
    assert.equal((await service.call('HEAD', '/plants', { token: null })).status, 401);
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
    const store = new PlantStore({ storage });
    const service = await startService(t, { store });
    const name = 'x'.repeat(2000);
    for (let at = 0; at < 20_000; at += 5000) {
      await Promise.all(Array.from({ length: 5000 }, (_, n) => store.createPlant('ada', { id: at + n, name })));
    }
    let reads = 0;
    const list = storage.list.bind(storage);
    storage.list = (user, range) => {
      if (range.limit > 1) reads++;
      return list(user, range);
    };
    const connection = await RawConnection.open(t, service.port);
    connection.socket.pause();
    connection.send(listRequest);
    let seen = -1;
    while (reads === 0 || seen !== reads) {
      seen = reads;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(reads < 20, `${reads} pages were read for a client that does not read`);
    connection.socket.destroy();
    await service.call('GET', '/plants?limit=1');
    const afterwards = reads;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(reads <= afterwards + 1, 'reading continued after the disconnect');
    assert.deepEqual(service.faults, []);
  });

  it('lets the event loop continue between two pages', async () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await createPlants(store, 3000);
    const request = { user: 'ada', limit: undefined, after: undefined, path: '/plants', request: { isOpen: true } };
    const { body = '' } = await listAnswer(store, request);
    let turns = 0;
    const count = (): void => {
      turns++;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    let pieces = 0;
    for await (const piece of body) if (piece !== ']') pieces++;
    clearImmediate(immediate);
    assert.equal(pieces, 3);
    assert.ok(turns >= 2, `${turns} turns`);
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
    const { stdout, stderr } = await runProgram(process.execPath, ['--expose-gc', ...evalArgs(code)]);
    assert.equal(stdout, '1,1\n', stderr);
  });

  it('is valid JSON even if the rest of it is deleted while it is read', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await plant(service, 1500);
    const list = storage.list.bind(storage);
    let reads = 0;
    storage.list = async (user, range) => (++reads > 1 ? { plants: [], hasMore: false } : list(user, range));
    assert.deepEqual(names(await service.call('GET', '/plants')), oneTo(1000));
  });

  it('is cut off if the storage fails, so that it does not look complete', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await plant(service, 5000);
    const list = storage.list.bind(storage);
    let reads = 0;
    storage.list = (user, range) => (++reads > 3 ? Promise.reject(new Error('gone')) : list(user, range));
    await assert.rejects(
      fetch(`${service.url}/plants`, { headers: { authorization: 'Bearer ada' } }).then((response) => response.text()),
    );
    assert.deepEqual(service.faults.map(String), ['PlantStoreError: The storage failed. Try again shortly.']);
    const answered = await service.call('GET', '/plants?limit=5');
    assert.deepEqual([answered.status, answered.headers.get('retry-after')], [503, '1']);
  });
});

describe('parseListQuery', () => {
  it('ignores a parameter whose name begins with a question mark', () => {
    assert.deepEqual(parseListQuery('?limit=1'), { limit: undefined, after: undefined });
    assert.deepEqual(parseListQuery('?limit=1&limit=2'), { limit: 2, after: undefined });
  });
});
