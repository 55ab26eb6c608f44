import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { listRequest, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createPlants } from '../../support/stored-plants.ts';

describe('AnswerSender', () => {
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

describe('AnswerSender, when the client of a list disconnects', () => {
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
    connection.socket.destroy();
    await gone;
    mayGoOn.resolve(undefined);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.equal(reads, 3);
    assert.equal(response.listenerCount('drain'), 0);
  });
});
