import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { MemoryStorage } from '../../../src/index.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { begin, listRequest } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/** Starts a service with 40 MB of plants, which socket buffers cannot hold. `beforeRead` is called before each read. */
async function startWithLongList(
  t: HasAfter,
  beforeRead: (read: number) => Promise<unknown> | undefined = () => undefined,
): Promise<{ service: Service; reads: { count: number } }> {
  const storage = new MemoryStorage();
  const service = await startService(t, { storage });
  await createPlants(service.store, 20_000, 'x'.repeat(2000));
  const list = storage.list.bind(storage);
  const reads = { count: 0 };
  storage.list = async (user, range) => {
    await beforeRead(++reads.count);
    return list(user, range);
  };
  return { service, reads };
}

describe('a long list', () => {
  it('waits for a client that does not read, and stops when the client disconnects', async (t) => {
    const { service, reads } = await startWithLongList(t);
    const { connection, response } = await begin(t, service, listRequest, { isPaused: true });
    for (let seen = -1; reads.count === 0 || seen !== reads.count;) {
      seen = reads.count;
      await sleep(50);
    }
    assert.ok(reads.count < 20, `${reads.count} pages were read for a client that does not read`);
    const before = reads.count;
    connection.socket.destroy();
    await eventuallyEqual(() => response.closed, true);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.deepEqual([reads.count, service.faults], [before, []]);
  });

  it('is read only once for HEAD, and no further if the client disconnects during a read', async (t) => {
    const [third, resumed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const { service, reads } = await startWithLongList(t, (read) => {
      if (read !== 3) return undefined;
      third.resolve(undefined);
      return resumed.promise;
    });
    assert.equal((await service.call('HEAD', '/plants')).status, 200);
    assert.equal(reads.count, 1);
    reads.count = 0;
    const { connection, response } = await begin(t, service, listRequest.replace('/plants', '/plants?after=0'));
    await third.promise;
    const gone = once(response, 'close');
    connection.socket.resetAndDestroy();
    await gone;
    resumed.resolve(undefined);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.equal(reads.count, 3);
  });
});
