import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createRequestListener, drainServer } from '../../../src/http.ts';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import { head, listRequest, post, RawConnection } from '../../support/raw-http.ts';
import { authenticateByName, startService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

describe('drainServer', () => {
  it('drains a node:http server of the application', async (t) => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    t.after(() => store.close());
    const server = createServer(createRequestListener(store, { authenticate: authenticateByName }));
    const port = await listen(t, server);
    const idle = await RawConnection.open(t, port);
    idle.send(listRequest);
    await idle.until(/\[\]$/);
    const unfinished = await RawConnection.open(t, port);
    const received = once(server, 'request');
    unfinished.send(post('{"id":1', 100));
    await received;
    await drainServer(server, 50);
    assert.match(await idle.untilClosed(), /\[\]$/);
    assert.equal(await unfinished.untilClosed(), '');
  });

  it('rejects an invalid graceMs', async (t) => {
    const { server } = await startService(t);
    for (const graceMs of [-1, 1.5, NaN, 2 ** 31]) {
      await assert.rejects(drainServer(server, graceMs), { name: 'TypeError', message: /^graceMs must be an integer/ });
    }
    assert.ok(server.listening);
  });

  it('finishes requests in progress with Connection: close, and closes idle connections', async (t) => {
    const { server, store, port } = await startService(t);
    const idle = await RawConnection.open(t, port);
    idle.send(listRequest);
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

  it('closes a busy connection after a request that arrives while draining', async (t) => {
    const { server, store, port } = await startService(t);
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

  it('responds to a request whose header was incomplete when draining began, then closes the connection', async (t) => {
    const { server, port } = await startService(t);
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

  it('closes a connection when its list is complete', async (t) => {
    const { server, store, port } = await startService(t);
    // So that only drainServer closes the connection.
    server.keepAliveTimeout = 0;
    const name = 'x'.repeat(5000);
    await createPlants(store, 5000, name);
    const connection = await RawConnection.open(t, port);
    connection.socket.pause();
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    connection.send(listRequest);
    const [, response] = await responses;
    await eventually(() => {
      assert.ok(response.headersSent);
    });
    const startMs = performance.now();
    const drained = drainServer(server, 20_000);
    connection.socket.resume();
    assert.match(await connection.untilClosed(), /\]\r\n0\r\n\r\n$/);
    await drained;
    assert.ok(performance.now() - startMs < 19_000, 'it was closed at the end of graceMs');
  });

  it('closes the connections whose requests are not complete after graceMs', { timeout: 20_000 }, async (t) => {
    const { server, store, port } = await startService(t);
    // So that only drainServer closes the connection.
    server.timeout = 0;
    server.requestTimeout = 0;
    const connection = await RawConnection.open(t, port);
    const received = once(server, 'request');
    connection.send(post('{"id":1', 100));
    await received;
    await drainServer(server, 50);
    assert.equal(await connection.untilClosed(), '');
    assert.deepEqual(await store.listPlants('ada'), []);
  });
});
