import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonPage } from '../../src/index.ts';
import { ReadQueue } from '../../src/core/read-queue.ts';
import { hold, namesIn, openBatchStorage, openWithCache, request, withCache } from '../support/batch-storage.ts';
import { turn } from '../support/commits.ts';
import { create } from '../support/writes.ts';

describe('ReadQueue with a cache', () => {
  it('returns cached pages without a batch, and reads all others', async () => {
    const { storage, queue } = await openWithCache({ ada: 30 });
    const cached = await queue.readPage(request('ada', 20));
    const after = await queue.readPage(request('ada', 20, 4n));
    assert.equal(await queue.readPage(request('ada', 20)), cached);
    assert.equal(storage.batches.length, 2);
    assert.notEqual(await queue.readPage(request('ada', 20, 4n)), after);
    await queue.readPage(request('ada', 19));
    assert.deepEqual(
      storage.batches.map((batch) => batch.map(({ limit }) => limit)),
      [[20], [20], [20], [19]],
    );
  });

  it('returns a cached page in the next iteration, even if long lists wait', async () => {
    const { queue } = await openWithCache({ ada: 1000, bob: 20 });
    const cached = await queue.readPage(request('bob', 20));
    const users = ['ada', 'eve', 'joe', 'ada', 'eve', 'joe'];
    const long = Promise.all(users.map((user) => queue.readPage(request(user, 1000, -1n))));
    await new Promise(setImmediate);
    let page: JsonPage | undefined;
    void queue.readPage(request('bob', 20)).then((read) => {
      page = read;
    });
    await new Promise(setImmediate);
    assert.equal(page, cached);
    await long;
  });

  it('reads a page once for all requests of an iteration', async () => {
    const { storage, queue } = await openWithCache({ ada: 30, bob: 30 });
    const requests = Array.from({ length: 60 }, (_, n) => request(n % 2 === 0 ? 'ada' : 'bob', n % 3 === 0 ? 10 : 20));
    const pages = await Promise.all(requests.map((each) => queue.readPage(each)));
    for (const [n, { count }] of pages.entries()) assert.equal(count, requests[n]?.limit);
    assert.equal(storage.batches.length, 1);
    assert.equal(storage.batches[0]?.length, 4);
    assert.equal(new Set(pages).size, 4);
  });

  it('does not delay a request because of another one whose page is not cached', async () => {
    const { storage, queue } = await openWithCache({ ada: 30 });
    await Promise.all([4n, 4n, undefined].map((after) => queue.readPage(request('ada', 20, after))));
    assert.deepEqual(
      storage.batches.map((batch) => batch.map(({ after }) => after)),
      [[4n, 4n, undefined]],
    );
  });

  it('reads a page again for the other requests if its batch fails', async () => {
    const { storage, queue } = await openWithCache({ ada: 1 });
    storage.afterRead = async () => {
      storage.afterRead = async () => undefined;
      throw new Error('no disk');
    };
    const [first, second] = [queue.readPage(request('ada', 5)), queue.readPage(request('ada', 5))];
    await assert.rejects(first, { code: 'storage_unavailable', cause: new Error('no disk') });
    assert.equal((await second).count, 1);
  });

  it('checks the version once for all requests of an iteration, and then removes stale pages', async () => {
    const { storage, queue, version } = await openWithCache({ ada: 1, bob: 1 });
    await Promise.all([queue.readPage(request('ada', 5)), queue.readPage(request('bob', 5))]);
    let checks = 0;
    version.read = () => {
      checks++;
      return 1;
    };
    await storage.commit([create(7, 'ada', 'new')]);
    const pages = [request('ada', 5), request('bob', 5), request('ada', 5)].map((each) => queue.readPage(each));
    assert.deepEqual((await Promise.all(pages)).map(namesIn), [['0', 'new'], ['0'], ['0', 'new']]);
    assert.ok(checks <= 2, `${checks} checks`);
  });

  it('checks the version after the last request of an iteration', async () => {
    const { storage, queue, version } = await openWithCache({ ada: 1 });
    await queue.readPage(request('ada', 5));
    const early = queue.readPage(request('ada', 5));
    // Another process commits and acknowledges a plant before the second request, in the same iteration.
    await storage.commit([create(7, 'ada', 'new')]);
    version.read = () => 1;
    const late = queue.readPage(request('ada', 5));
    assert.deepEqual((await Promise.all([early, late])).map(namesIn), [
      ['0', 'new'],
      ['0', 'new'],
    ]);
  });

  it('rejects the waiting requests if the version cannot be read, and continues', async () => {
    const { storage, queue, version } = await openWithCache({ ada: 1, bob: 1 });
    await queue.readPage(request('ada', 5));
    const [read, waiting] = [1, 2].map(() => queue.readPage(request('ada', 1000, -1n)));
    assert.ok(read && waiting);
    const rejected = assert.rejects(waiting, { cause: new Error('no disk') });
    await new Promise(setImmediate);
    version.read = () => {
      throw new Error('no disk');
    };
    const arrived = [request('ada', 5), request('bob', 5)].map((each) => queue.readPage(each));
    for (const each of arrived) await assert.rejects(each, { cause: new Error('no disk') });
    await Promise.all([read, rejected]);
    await assert.rejects(queue.readPage(request('ada', 5)), { cause: new Error('no disk') });
    version.read = () => 0;
    assert.equal((await queue.readPage(request('ada', 5))).count, 1);
    await turn();
    assert.equal(storage.batches.length, 2);
  });

  it('does not cache a page if plants may have changed while it was being read', async () => {
    const { storage, queue, cache, version } = await openWithCache({ ada: 1 });
    const release = hold(storage);
    const changes: (() => void)[] = [
      () => {
        cache.forget('ada');
      },
      () => {
        version.read = () => 1;
        cache.checkVersion();
      },
    ];
    for (const change of changes) {
      const page = queue.readPage(request('ada', 5));
      await turn();
      change();
      release();
      await page;
      assert.equal(cache.get(request('ada', 5)), undefined);
    }
  });

  for (const isCached of [false, true]) {
    it(`returns a page that reflects the commits before its request, ${isCached ? 'with' : 'without'} a cache`, async () => {
      const storage = await openBatchStorage({ ada: 1 });
      const { queue: cachedQueue, cache } = withCache(storage);
      const queue = isCached ? cachedQueue : new ReadQueue(storage, undefined);
      const release = hold(storage);
      const read = (): Promise<JsonPage> => queue.readPage(request('ada', 5));
      const earlier = Promise.all([read(), read()]);
      await turn();
      await storage.commit([create(7, 'ada', 'new')]);
      cache.forget('ada');
      const later = Promise.all([read(), read()]);
      for (let batch = 0; batch < 4; batch++) {
        await turn();
        release();
      }
      assert.deepEqual(namesIn((await earlier)[0]), ['0']);
      for (const page of await later) assert.deepEqual(namesIn(page), ['0', 'new']);
    });
  }
});
