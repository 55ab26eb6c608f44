import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { heldStorage } from '../../support/held-storage.ts';
import { head, listRequest, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/** Opens a connection and sends one request, which is refused because it has no token. */
async function keepAlive(t: HasAfter, port: number): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port);
  connection.send('GET /plants HTTP/1.1\r\nHost: x\r\n\r\n');
  await connection.until(/40101/);
  return connection;
}

describe('idle connections', () => {
  it('are closed near maxConnections, the longest idle first, so that every new client is served', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 20;
    let drops = 0;
    let closed = 0;
    server.on('drop', () => drops++).on('idleConnectionClosed', () => closed++);
    const kept: RawConnection[] = [];
    for (let n = 0; n < 50; n++) kept.push(await keepAlive(t, port));
    assert.deepEqual([drops, closed], [0, 31]);
    await eventually(() => {
      assert.equal(kept.filter(({ socket }) => !socket.destroyed).length, 19);
    });
    assert.ok(kept.slice(0, 31).every(({ socket }) => socket.destroyed));
  });

  it('are closed when many clients connect at the same time', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 20;
    const [oldest] = await Promise.all(Array.from({ length: 19 }, () => keepAlive(t, port)));
    assert.ok(oldest);
    let drops = 0;
    server.on('drop', () => drops++);
    for (let n = 0; n < 20; n++) await Promise.all([keepAlive(t, port), keepAlive(t, port)]);
    await eventually(() => {
      assert.ok(oldest.socket.destroyed);
    });
    assert.equal(drops, 0);
  });

  it('are closed as soon as they are idle if maxConnections was reached', async (t) => {
    const { storage, release } = heldStorage({ lists: true });
    const { server, port } = await startService(t, { storage });
    server.maxConnections = 4;
    const busy: RawConnection[] = [];
    for (let n = 0; n < 4; n++) {
      busy.push(await RawConnection.open(t, port));
      const requested = once(server, 'request');
      busy[n]?.send(listRequest);
      await requested;
    }
    const dropped = once(server, 'drop');
    await (await RawConnection.open(t, port)).untilClosed();
    await dropped;
    release();
    for (const connection of busy) await connection.until(/\[\]$/);
    await keepAlive(t, port);
    await eventually(() => {
      assert.equal(busy.filter(({ socket }) => !socket.destroyed).length, 2);
    });
  });

  it('include connections on which no byte was sent for a second', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 4;
    const silent: RawConnection[] = [];
    for (let n = 0; n < 4; n++) silent.push(await RawConnection.open(t, port));
    // One is closed without a new client. Shortly after, the others are old enough too.
    await eventually(() => {
      assert.ok(silent.some(({ socket }) => socket.destroyed));
    });
    await sleep(50);
    for (let n = 0; n < 10; n++) await keepAlive(t, port);
    await eventually(() => {
      assert.ok(silent.every(({ socket }) => socket.destroyed));
    });
  });

  it('do not include connections whose header has been incomplete for less than a second', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 6;
    const kept = await keepAlive(t, port);
    const partial = [await RawConnection.open(t, port), kept];
    for (const connection of partial) connection.send('GET /pla');
    for (let n = 0; n < 10; n++) await keepAlive(t, port);
    for (const connection of partial) {
      connection.send(`nts HTTP/1.1\r\n${head}\r\n`);
      await connection.until(/\[\]$/);
    }
  });

  it('include connections whose header has been incomplete for a second', async (t) => {
    const { server, port } = await startService(t);
    server.maxConnections = 4;
    const partial = [await RawConnection.open(t, port), await keepAlive(t, port)];
    for (const connection of partial) connection.send('G');
    await sleep(1100);
    await eventually(async () => {
      for (let n = 0; n < 4; n++) await keepAlive(t, port);
      assert.ok(partial.every(({ socket }) => socket.destroyed));
    });
  });

  it('stay open while few connections are open', async (t) => {
    const { port } = await startService(t);
    const kept = await Promise.all(Array.from({ length: 50 }, () => keepAlive(t, port)));
    for (const connection of kept) {
      connection.send(listRequest);
      await connection.until(/\[\]$/);
    }
  });
});
