import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { createRequestListener } from '../../../src/http.ts';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import { listRequest, post, RawConnection } from '../../support/raw-http.ts';
import { authenticateByName, startService } from '../../support/service.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPlants } from '../../support/stored-plants.ts';

describe('sendAnswer', () => {
  it('sends multi-byte characters completely', async (t) => {
    const service = await startService(t);
    const body = '{"name":"\u{1F33F} Löwenzahn","tag":"\u2698"}';
    const answered = await service.call('POST', '/plants', { body: `{"id":1,${body.slice(1)}` });
    assert.deepEqual([answered.status, answered.text], [200, body]);
    assert.equal((await service.call('GET', '/plants')).text, `[${body}]`);
  });

  it('reads one page for a HEAD request', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await createPlants(service.store, 5000);
    let reads = 0;
    const list = storage.list.bind(storage);
    storage.list = (user, range) => {
      reads++;
      return list(user, range);
    };
    assert.equal((await service.call('HEAD', '/plants')).status, 200);
    assert.equal(reads, 1);
  });

  it('stops waiting for a client that stopped reading and then disconnected', async (t) => {
    const { store, server, port } = await startService(t);
    const name = 'x'.repeat(5000);
    await createPlants(store, 5000, name);
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const connection = await RawConnection.open(t, port);
    connection.socket.pause();
    connection.send(listRequest);
    const [, response] = await responses;
    await eventually(() => {
      assert.equal(response.listenerCount('drain'), 1);
    });
    connection.socket.destroy();
    await eventually(() => {
      assert.equal(response.listenerCount('drain'), 0);
    });
  });
});

describe('sendAnswer, when the client of a list disconnects', () => {
  it('reads no further page', async (t) => {
    const storage = new MemoryStorage();
    const { store, server, port } = await startService(t, { storage });
    const name = 'x'.repeat(2000);
    await createPlants(store, 5000, name);
    const list = storage.list.bind(storage);
    const [third, mayGoOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let reads = 0;
    storage.list = async (user, range) => {
      if (range.limit > 1 && ++reads === 3) {
        third.resolve(undefined);
        await mayGoOn.promise;
      }
      return list(user, range);
    };
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const connection = await RawConnection.open(t, port);
    connection.send(listRequest);
    const [, response] = await responses;
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
    const store = new PlantStore({ storage: new MemoryStorage() });
    t.after(() => store.close());
    const faults: unknown[] = [];
    const listener = createRequestListener(store, {
      authenticate: authenticateByName,
      onError: (error) => faults.push(error),
    });
    // For example, because its time limit has passed.
    const server = createServer((request, response) => {
      response.writeHead(503);
      listener(request, response);
    });
    const port = await listen(t, server);
    const malformed = listRequest.replace('Host: x', 'Host: x\r\nHost: y');
    for (const [n, text] of [listRequest, post('{'), post('', 100_000), malformed].entries()) {
      const connection = await RawConnection.open(t, port);
      connection.send(text);
      await connection.untilClosed();
      assert.equal(faults.length, n + 1);
      assert.match(String(faults[n]), /ERR_HTTP_HEADERS_SENT/);
    }
  });
});
