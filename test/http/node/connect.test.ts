import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { drainServer } from '../../../src/http.ts';
import { eventually } from '../../support/eventually.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { head, start } from '../../support/raw-service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

describe('A client of CONNECT', () => {
  it('does not end the process by resetting the connection', async (t) => {
    const { server, port } = await start(t);
    for (let n = 0; n < 5; n++) {
      const connect = once(server, 'connect');
      const connection = await RawConnection.open(t, port);
      connection.send('CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n');
      await connect;
      connection.send('more');
      connection.socket.resetAndDestroy();
    }
    await eventually(async () => {
      assert.equal(
        await new Promise((resolve) => {
          server.getConnections((_, count) => {
            resolve(count);
          });
        }),
        0,
      );
    });
    const other = await RawConnection.open(t, port);
    other.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    await other.until(/\[\]$/);
  });

  it('does not end the process either where the connection is being closed already', async (t) => {
    const { server, port } = await start(t);
    const connect = once(server, 'connect');
    const connection = await RawConnection.open(t, port);
    connection.send('GET /plants HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    await connection.until(/\}$/);
    connection.send('CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n');
    await connect;
    connection.send('more');
    connection.socket.resetAndDestroy();
    const other = await RawConnection.open(t, port);
    other.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    await other.until(/\[\]$/);
  });

  it('gets the answers to the requests before it', async (t) => {
    const connection = await askAhead(t);
    // The list does not fit the buffers, so that its next page has to wait until the client reads on.
    connection.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    connection.socket.resume();
    assert.match(await connection.untilClosed(), /\]\r\n0\r\n\r\nHTTP\/1\.1 404 /);
  });

  it('is given up where it takes no answer', async (t) => {
    const connection = await askAhead(t, (server) => {
      server.timeout = 200;
    });
    connection.socket.pause();
    await eventually(async () => {
      assert.equal(await connection.openOnServer(), 0);
    });
  });

  it('is cut off where it takes no answer while the server is drained', async (t) => {
    const connection = await askAhead(t);
    connection.socket.pause();
    await drainServer(connection.server, 50);
    assert.equal(await connection.openOnServer(), 0);
  });
});

interface AskedAhead {
  readonly server: Server;
  readonly socket: Socket;
  readonly untilClosed: () => Promise<string>;
  readonly openOnServer: () => Promise<number>;
}

/** Asks for a list that no buffer takes, with a CONNECT behind it. */
async function askAhead(t: HasAfter, setUp: (server: Server) => void = () => undefined): Promise<AskedAhead> {
  const storage = new MemoryStorage();
  const ids = Array.from({ length: 60_000 }, (_, id) => BigInt(id));
  await storage.commit(ids.map((id) => ({ kind: 'create', user: 'ada', plant: { id, name: 'x'.repeat(250) } })));
  const { server, port } = await start(t, storage);
  setUp(server);
  const connect = once(server, 'connect');
  const connection = await RawConnection.open(t, port);
  connection.send(`GET /plants HTTP/1.1\r\n${head}\r\nCONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n`);
  await connect;
  return {
    server,
    socket: connection.socket,
    untilClosed: () => connection.untilClosed(),
    openOnServer: () =>
      new Promise((resolve) => {
        server.getConnections((_, count) => {
          resolve(count);
        });
      }),
  };
}
