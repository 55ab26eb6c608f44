import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { drainServer } from '../../../src/http.ts';
import { eventually } from '../../support/eventually.ts';
import { listRequest, parseRawAnswer, RawConnection } from '../../support/raw-http.ts';
import { countConnections, startService } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

describe('CONNECT', () => {
  it('does not end the process when its client resets the connection', async (t) => {
    const { server, port } = await startService(t);
    for (let n = 0; n < 5; n++) {
      const connect = once(server, 'connect');
      const connection = await RawConnection.open(t, port);
      connection.send('CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n');
      await connect;
      connection.send('more');
      connection.socket.resetAndDestroy();
    }
    await eventually(async () => {
      assert.equal(await countConnections(server), 0);
    });
    const other = await RawConnection.open(t, port);
    other.send(listRequest);
    await other.until(/\[\]$/);
  });

  it('does not end the process when the connection is already being closed', async (t) => {
    const { server, port } = await startService(t);
    const connect = once(server, 'connect');
    const connection = await RawConnection.open(t, port);
    connection.send('GET /plants HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    await connection.until(/\}$/);
    connection.send('CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n');
    await connect;
    connection.send('more');
    connection.socket.resetAndDestroy();
    const other = await RawConnection.open(t, port);
    other.send(listRequest);
    await other.until(/\[\]$/);
  });

  it('lets the responses to earlier requests be sent first', async (t) => {
    const { connection } = await askAhead(t);
    // The list does not fit the socket buffers, so its next page waits until the client reads again.
    connection.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    connection.socket.resume();
    assert.match(await connection.untilClosed(), /\]\r\n0\r\n\r\nHTTP\/1\.1 404 /);
  });

  it('is closed after the timeout if its client reads no response', async (t) => {
    const { server, connection } = await askAhead(t, 200);
    connection.socket.pause();
    await eventually(async () => {
      assert.equal(await countConnections(server), 0);
    });
  });

  it('is closed by drainServer if its client reads no response', async (t) => {
    const { server, connection } = await askAhead(t);
    connection.socket.pause();
    await drainServer(server, 50);
    assert.equal(await countConnections(server), 0);
  });
});

/** Sends a request for a list that does not fit the socket buffers, followed by CONNECT. */
async function askAhead(t: HasAfter, timeoutMs = 60_000): Promise<{ server: Server; connection: RawConnection }> {
  const storage = new MemoryStorage();
  const ids = Array.from({ length: 60_000 }, (_, id) => BigInt(id));
  await storage.commit(ids.map((id) => ({ kind: 'create', user: 'ada', plant: { id, name: 'x'.repeat(250) } })));
  const { server, port } = await startService(t, { storage });
  server.timeout = timeoutMs;
  const connect = once(server, 'connect');
  const connection = await RawConnection.open(t, port);
  connection.send(`${listRequest}CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await connect;
  return { server, connection };
}

describe('CONNECT', () => {
  it('gets a 404 response', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port);
    connection.send('CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n');
    const { status, error } = parseRawAnswer(await connection.untilClosed());
    assert.deepEqual([status, error], [404, 40401]);
  });
});
