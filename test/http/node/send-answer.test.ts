import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { head, start } from '../../support/raw-service.ts';
import { startService } from '../../support/service.ts';

describe('An answer', () => {
  it('is whole where its characters take several bytes', async (t) => {
    const service = await startService(t);
    const body = '{"name":"\u{1F33F} Löwenzahn","tag":"\u2698"}';
    const answered = await service.call('POST', '/plants', { body: `{"id":1,${body.slice(1)}` });
    assert.deepEqual([answered.status, answered.text], [200, body]);
    assert.equal((await service.call('GET', '/plants')).text, `[${body}]`);
  });

  it('to HEAD takes no more reading than to say that there is a list', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await Promise.all(Array.from({ length: 5000 }, (_, id) => service.store.createPlant('ada', { id, name: '' })));
    let reads = 0;
    const list = storage.list.bind(storage);
    storage.list = (user, range) => {
      reads++;
      return list(user, range);
    };
    assert.equal((await service.call('HEAD', '/plants')).status, 200);
    assert.equal(reads, 1);
  });

  it('waits no longer for a client that took nothing any more and then left', async (t) => {
    const { store, server, port } = await start(t);
    const name = 'x'.repeat(5000);
    await Promise.all(Array.from({ length: 5000 }, (_, id) => store.createPlant('ada', { id, name })));
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const connection = await RawConnection.open(t, port);
    connection.socket.pause();
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
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
