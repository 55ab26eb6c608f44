import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { drainServer } from '../../../src/http.ts';
import { eventually } from '../../support/eventually.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { head, post, start } from '../../support/raw-service.ts';

describe('drainServer', () => {
  it('refuses a server that createPlantServer did not make, and a wrong time', async (t) => {
    const other = createServer();
    const expected = { name: 'TypeError', message: 'drainServer must be given a server that createPlantServer made' };
    await assert.rejects(drainServer(other, 0), expected);
    const { server } = await start(t);
    for (const graceMs of [-1, 1.5, NaN, 2 ** 31]) {
      await assert.rejects(drainServer(server, graceMs), { name: 'TypeError', message: /^graceMs must be an integer/ });
    }
    assert.ok(server.listening);
  });

  it('finishes what is under way, says that the connection closes, and ends idle connections', async (t) => {
    const { server, store, port } = await start(t);
    const idle = await RawConnection.open(t, port);
    idle.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    assert.match(await idle.until(/\[\]$/), /keep-alive/);
    const busy = await RawConnection.open(t, port);
    const received = once(server, 'request');
    busy.send(post('{"id":1,"name":"Fe', 22));
    await received;
    const drained = drainServer(server, 60_000);
    await idle.untilClosed();
    busy.send('rn"}');
    const answer = await busy.untilClosed();
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /\r\nConnection: close\r\n/);
    await drained;
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
  });

  it('answers a request that comes on a busy connection while draining, as its last', async (t) => {
    const { server, store, port } = await start(t);
    const connection = await RawConnection.open(t, port);
    const received = once(server, 'request');
    connection.send(post('{"id":1,"name":"Fe', 22));
    await received;
    const drained = drainServer(server, 60_000);
    connection.send(`rn"}GET /plants HTTP/1.1\r\n${head}\r\n`);
    const answers = await connection.untilClosed();
    assert.match(answers, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answers, /\r\nConnection: close\r\n/);
    await drained;
    assert.equal((await store.listPlants('ada')).length, 1);
  });

  it('answers a request that was half sent when draining began, as the last of its connection', async (t) => {
    const { server, port } = await start(t);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const connection = await RawConnection.open(t, port);
    connection.send('GET /plants HTTP/1.1\r\n');
    const [socket] = await accepted;
    await eventually(() => {
      assert.ok(socket.bytesRead > 0);
    });
    const drained = drainServer(server, 60_000);
    connection.send(`${head}\r\n`);
    const answer = await connection.untilClosed();
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /\r\nConnection: close\r\n/);
    await drained;
  });

  it('ends a connection that falls idle behind a list that was under way', async (t) => {
    const { server, store, port } = await start(t);
    // Nothing else is to end it.
    server.keepAliveTimeout = 0;
    const name = 'x'.repeat(5000);
    await Promise.all(Array.from({ length: 5000 }, (_, id) => store.createPlant('ada', { id, name })));
    const connection = await RawConnection.open(t, port);
    connection.socket.pause();
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    const [, response] = await responses;
    await eventually(() => {
      assert.ok(response.headersSent);
    });
    const startMs = performance.now();
    const drained = drainServer(server, 20_000);
    connection.socket.resume();
    assert.match(await connection.untilClosed(), /\]\r\n0\r\n\r\n$/);
    await drained;
    assert.ok(performance.now() - startMs < 19_000, 'it was cut off at the end of the grace');
  });

  it('cuts off what is not finished in time', async (t) => {
    const { server, store, port } = await start(t);
    const connection = await RawConnection.open(t, port);
    const received = once(server, 'request');
    connection.send(post('{"id":1', 100));
    await received;
    await drainServer(server, 50);
    assert.equal(await connection.untilClosed(), '');
    assert.deepEqual(await store.listPlants('ada'), []);
  });
});
