import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { createFetchService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { newRequest } from './requests.ts';

const headers = { authorization: 'Bearer ada' };

/** Creates a list request from ada. */
const newList = (target = '/plants', init: RequestInit = {}): Request =>
  newRequest('GET', target, { headers, ...init });

/** Creates a service with one permit and a storage that counts reads. Ada has five pages of 1000 plants each. */
async function createCounting(t: HasAfter) {
  const storage = new MemoryStorage();
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  const service = createFetchService(t, { store, maxInFlight: 1 });
  await createPlants(store, 5000);
  const reads = { count: 0, beforeEach: () => Promise.resolve() };
  const list = storage.list.bind(storage);
  storage.list = async (user, range) => {
    reads.count++;
    await reads.beforeEach();
    return list(user, range);
  };
  return { service, reads };
}

function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  assert.ok(body);
  return body.getReader();
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}

describe('the stream of a long list', () => {
  it('reads each page only when the consumer requests it', async (t) => {
    const { service, reads } = await createCounting(t);
    const reader = readerOf(await service.send(newList()));
    await someTurns();
    assert.equal(reads.count, 1);
    for (const count of [1, 2, 3]) {
      await reader.read();
      await someTurns();
      assert.equal(reads.count, count);
    }
    await reader.cancel();
  });

  it('returns its permit if the signal is aborted after the server has dropped the response', async (t) => {
    setFlagsFromString('--expose_gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { service } = await createCounting(t);
    const client = new AbortController();
    assert.equal((await service.send(newList('/plants', { signal: client.signal }))).status, 200);
    await someTurns();
    collectGarbage();
    client.abort();
    await someTurns();
    assert.equal((await service.send(newList('/plants?limit=1'))).status, 200);
  });

  for (const [when, abortedRead] of [
    ['while the first page is being read', 1],
    ['while another page is being read', 2],
    ['between two pages', undefined],
  ] as const) {
    it(`fails without reading further pages if the signal is aborted ${when}`, async (t) => {
      const { service, reads } = await createCounting(t);
      const client = new AbortController();
      reads.beforeEach = async () => {
        if (reads.count === abortedRead) client.abort();
        await nextTurn();
      };
      const reader = readerOf(await service.send(newList('/plants', { signal: client.signal })));
      if (abortedRead !== 1) await reader.read();
      if (abortedRead === undefined) client.abort();
      const count = abortedRead ?? reads.count;
      const rest = async (): Promise<void> => {
        while (!(await reader.read()).done);
      };
      await assert.rejects(rest, { code: 'internal', message: 'The list ended before it was complete.' });
      await someTurns();
      assert.equal(reads.count, count);
      assert.equal((await service.send(newList('/plants?limit=0'))).status, 200, 'the permit is free');
      assert.deepEqual(service.faults, []);
    });
  }
});
