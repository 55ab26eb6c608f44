import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { heldStorage } from '../../support/held-storage.ts';
import { createRequest, listRequest, parseRawAnswers, RawConnection } from '../../support/raw-http.ts';
import { countConnections, startService } from '../../support/service.ts';

const connectRequest = 'CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n';

describe('CONNECT', () => {
  it('does not end the process when its client resets the connection', async (t) => {
    const { server, port } = await startService(t);
    for (let n = 0; n < 5; n++) {
      const connect = once(server, 'connect');
      const connection = await RawConnection.open(t, port);
      connection.send(connectRequest);
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
    connection.send(connectRequest);
    await connect;
    connection.send('more');
    connection.socket.resetAndDestroy();
    const other = await RawConnection.open(t, port);
    other.send(listRequest);
    await other.until(/\[\]$/);
  });

  it('closes the connection if the response to an earlier request is pending', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, store, port, faults } = await startService(t, { storage });
    const connection = await RawConnection.open(t, port);
    connection.send(createRequest(1));
    await committing;
    connection.send(connectRequest);
    assert.equal(await connection.untilClosed(), '');
    release();
    await eventually(async () => {
      assert.equal((await store.listPlants('ada')).length, 1);
    });
    assert.equal(await countConnections(server), 0);
    assert.deepEqual(faults, []);
  });

  it('gets a 404 response, also after the response to an earlier request', async (t) => {
    const { port } = await startService(t);
    for (const earlier of ['', listRequest]) {
      const connection = await RawConnection.open(t, port);
      connection.send(earlier);
      if (earlier !== '') await connection.until(/\[\]$/);
      connection.send(connectRequest);
      const answer = parseRawAnswers(await connection.untilClosed()).at(-1);
      assert.deepEqual([answer?.status, answer?.error], [404, 40401]);
    }
  });
});
