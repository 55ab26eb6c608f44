import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage } from '../../../src/index.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import { begin, exchange, listRequest, post } from '../../support/raw-http.ts';
import { createListener, startService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

describe('sendAnswer', () => {
  it('stops waiting for a client that stopped reading and then disconnected', async (t) => {
    const service = await startService(t);
    await createPlants(service.store, 5000, 'x'.repeat(5000));
    const { connection, response } = await begin(t, service, listRequest, { isPaused: true });
    await eventuallyEqual(() => response.listenerCount('drain'), 1);
    connection.socket.destroy();
    await eventuallyEqual(() => response.listenerCount('drain'), 0);
  });

  it('reads one page for a HEAD request, and no further page of a list after its client has disconnected', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await createPlants(service.store, 5000, 'x'.repeat(2000));
    const list = storage.list.bind(storage);
    const [third, mayGoOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let reads = 0;
    storage.list = async (user, range) => {
      if (++reads === 3) {
        third.resolve(undefined);
        await mayGoOn.promise;
      }
      return list(user, range);
    };
    assert.equal((await service.call('HEAD', '/plants')).status, 200);
    assert.equal(reads, 1);
    reads = 0;
    const { connection, response } = await begin(t, service, listRequest.replace('/plants', '/plants?after=0'));
    await third.promise;
    const gone = once(response, 'close');
    connection.socket.resetAndDestroy();
    await gone;
    mayGoOn.resolve(undefined);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.equal(reads, 3);
    assert.equal(response.listenerCount('drain'), 0);
  });
});

describe('a response that a middleware has already begun', () => {
  it('closes the connection, and the error is reported', async (t) => {
    const { listener, faults } = createListener(t);
    // For example, because its time limit has passed.
    const server = createServer((request, response) => {
      response.writeHead(503);
      listener(request, response);
    });
    const port = await listen(t, server);
    const malformed = listRequest.replace('Host: x', 'Host: x\r\nHost: y');
    for (const text of [listRequest, post('{'), post('', 100_000), malformed]) {
      await exchange(t, port, text);
      assert.match(faults.splice(0).map(String).join(), /^Error[^,]*ERR_HTTP_HEADERS_SENT[^,]*$/);
    }
  });
});
