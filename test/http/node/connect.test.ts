import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { eventuallyEqual } from '../../support/eventually.ts';
import { createRequest, listRequest, parseRawAnswers, RawConnection } from '../../support/raw-http.ts';
import { countConnections, startHeldService, startService } from '../../support/service.ts';

const connectRequest = 'CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n';
const upgradeRequest = 'GET /plants HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';

describe('CONNECT', () => {
  for (const [what, earlier] of [
    ['its client resets the connection', ''],
    ['the connection is already being closed', upgradeRequest],
  ] as const) {
    it(`does not end the process when ${what}`, async (t) => {
      const { server, port } = await startService(t);
      for (let n = 0; n < 5; n++) {
        const connect = once(server, 'connect');
        const connection = await RawConnection.open(t, port, earlier);
        if (earlier !== '') await connection.until(/\}$/);
        connection.send(connectRequest);
        await connect;
        connection.send('more');
        connection.socket.resetAndDestroy();
      }
      await eventuallyEqual(() => countConnections(server), 0);
      await (await RawConnection.open(t, port, listRequest)).until(/\[\]$/);
    });
  }

  it('closes the connection if the response to an earlier request is pending', async (t) => {
    const { server, store, port, faults, release, committing } = await startHeldService(t);
    const connection = await RawConnection.open(t, port, createRequest(1));
    await committing;
    connection.send(connectRequest);
    assert.equal(await connection.untilClosed(), '');
    release();
    await eventuallyEqual(async () => (await store.listPlants('ada')).length, 1);
    assert.equal(await countConnections(server), 0);
    assert.deepEqual(faults, []);
  });

  it('gets a 404 response, also after the response to an earlier request', async (t) => {
    const { port } = await startService(t);
    for (const earlier of ['', listRequest]) {
      const connection = await RawConnection.open(t, port, earlier);
      if (earlier !== '') await connection.until(/\[\]$/);
      connection.send(connectRequest);
      const answer = parseRawAnswers(await connection.untilClosed()).at(-1);
      assert.deepEqual([answer?.status, answer?.error], [404, 40401]);
    }
  });
});
