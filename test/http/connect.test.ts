import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { eventually } from '../helpers/eventually.ts';
import { RawConnection } from '../helpers/raw-http.ts';
import { head, start } from '../helpers/raw-service.ts';

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
      assert.equal(await new Promise((resolve) => { server.getConnections((_, count) => { resolve(count); }); }), 0);
    });
    const other = await RawConnection.open(t, port);
    other.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    await other.until(/\[\]$/);
  });
});
