import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainServer } from '../../../src/http.ts';
import { begin, chunkedPost, post, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

describe('a body', () => {
  it('is read when it arrives in one-byte chunks', async (t) => {
    const { port, store } = await startService(t);
    const connection = await RawConnection.open(t, port, chunkedPost);
    const name = 'Fern'.repeat(1000);
    const pieces = Array.from(`{"id":1,"name":"${name}"}`, (byte) => `1\r\n${byte}\r\n`).join('');
    for (let at = 0; at < pieces.length; at += 5000) connection.send(pieces.slice(at, at + 5000));
    connection.send('0\r\n\r\n');
    await connection.until(/\}$/);
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name }]);
  });

  it('creates no plant and is not reported if the client resets the connection before its end', async (t) => {
    const service = await startService(t);
    const { connection } = await begin(t, service, post('{"id":1,"name":"Fe', 100));
    connection.socket.resetAndDestroy();
    (await RawConnection.open(t, service.port, 'GET /pl')).socket.resetAndDestroy();
    await drainServer(service.server, 5000);
    assert.deepEqual([await service.store.listPlants('ada'), service.faults], [[], []]);
  });
});
