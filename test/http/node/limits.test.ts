import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { createPlantServer, createRequestListener } from '../../../src/http.ts';
import { connectionLimit, openFileLimit } from '../../../src/http/node/connection-limit.ts';
import { readDocument } from '../../support/documents.ts';
import { eventually } from '../../support/eventually.ts';
import { heldStorage } from '../../support/held-storage.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { head, start } from '../../support/raw-service.ts';
import { startService } from '../../support/service.ts';

const listRequest = `GET /plants HTTP/1.1\r\n${head}\r\n`;

describe('maxInFlight', () => {
  it('refuses one request more than that at once, and takes it when one is answered', async (t) => {
    const { storage, release, calls } = heldStorage({ lists: true });
    const service = await startService(t, { storage, maxInFlight: 2 });
    const call: typeof service.call = (...parameters) => service.call(...parameters);
    const [listing, creating] = [call('GET', '/plants'), call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' })];
    await eventually(() => {
      assert.equal(calls(), 2);
    });
    for (const [method, target, body] of [
      ['GET', '/plants'],
      ['POST', '/plants', '{"id":2,"name":"Ivy"}'],
      ['DELETE', '/plants/1'],
    ] as const) {
      const { status, json, headers } = await call(method, target, body === undefined ? {} : { body });
      assert.deepEqual([status, (json as { error: number }).error, headers.get('retry-after')], [503, 50300, '1']);
    }
    assert.equal((await call('GET', '/openapi.json')).status, 200, 'the store is not asked');
    release();
    assert.deepEqual([(await listing).status, (await creating).status], [200, 200]);
    assert.deepEqual((await call('GET', '/plants')).json, [{ name: 'Fern' }]);
    assert.equal((await call('DELETE', '/plants/2')).status, 404);
    assert.deepEqual(service.faults, []);
  });

  it('counts nothing that is answered', async (t) => {
    const service = await startService(t, { maxInFlight: 1 });
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++) {
      for (let m = 0; m < 2; m++) {
        statuses.push((await service.call('POST', '/plants', { body: `{"id":${m},"name":"Fern"}` })).status);
      }
      for (const target of ['/plants', '/plants?limit=1', '/plants?limit=x']) {
        statuses.push((await service.call('GET', target)).status);
      }
      for (let m = 0; m < 2; m++) statuses.push((await service.call('DELETE', '/plants/1')).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 400, 204, 404, 400, 200, 200, 200, 400, 204, 404]);
  });

  it('does not count bodies that are still being sent', async (t) => {
    const service = await startService(t, { maxInFlight: 1 });
    for (let n = 0; n < 3; n++) {
      const slow = await RawConnection.open(t, service.port);
      slow.send(`POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    }
    assert.equal((await service.call('GET', '/plants')).status, 200);
  });

  it('must be 1 or more', () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    for (const maxInFlight of [0, -1, 1.5, NaN]) {
      assert.throws(() => createRequestListener(store, { authenticate: () => null, maxInFlight }), {
        name: 'TypeError',
        message: /maxInFlight/,
      });
    }
  });
});

describe('The bounds of a server', () => {
  it('are those of the table in docs/limits.md', async () => {
    const page = await readDocument('docs/limits.md');
    const server = createPlantServer(new PlantStore({ storage: new MemoryStorage() }), { authenticate: () => null });
    // It is smaller where this process may have few files open.
    assert.equal(server.maxConnections, connectionLimit(openFileLimit()));
    server.maxConnections = connectionLimit(Infinity);
    assert.equal(Number(/that limit minus (\d+)/.exec(page)?.[1]), 1024 - connectionLimit(1024));
    assert.equal(Number(/but at least (\d+)/.exec(page)?.[1]), connectionLimit(0));
    for (const property of [
      'headersTimeout',
      'requestTimeout',
      'keepAliveTimeout',
      'timeout',
      'maxConnections',
    ] as const) {
      const [, given = '', unit] =
        new RegExp(`^\\| [^|]+ \\| ([\\d,]+)( s)? +\\| \`server\\.${property}\``, 'm').exec(page) ?? [];
      assert.equal(server[property], Number(given.replace(',', '')) * (unit === undefined ? 1 : 1000), property);
    }
  });
});

describe("The server's maxConnections", () => {
  it('bounds the busy connections: one more is closed at once', async (t) => {
    const { server, port } = await start(t);
    server.maxConnections = 2;
    const sockets: Socket[] = [];
    server.on('connection', (socket: Socket) => sockets.push(socket));
    const open = [await RawConnection.open(t, port), await RawConnection.open(t, port)];
    for (const connection of open) connection.send('GET /pla');
    await eventually(() => {
      assert.deepEqual(
        sockets.map(({ bytesRead }) => bytesRead),
        [8, 8],
      );
    });
    const dropped = once(server, 'drop');
    const third = await RawConnection.open(t, port);
    assert.equal(await third.untilClosed(), '');
    await dropped;
    for (const connection of open) {
      connection.send(`nts HTTP/1.1\r\n${head}\r\n`);
      await connection.until(/\[\]$/);
    }
  });

  it('closes an idle connection for a new client, which is served', async (t) => {
    const { server, port } = await start(t);
    server.maxConnections = 1;
    const idle = await RawConnection.open(t, port);
    idle.send(listRequest);
    await idle.untilClosed();
    const next = await RawConnection.open(t, port);
    next.send(listRequest);
    await next.until(/\[\]$/);
  });
});

describe("The server's timeout", () => {
  it('ends a list that nobody takes', async (t) => {
    const { server, store, port, faults } = await start(t);
    const name = 'x'.repeat(60_000);
    await Promise.all(Array.from({ length: 300 }, (_, id) => store.createPlant('ada', { id, name })));
    assert.equal(server.timeout, 60_000);
    server.timeout = 300;
    const request = once(server, 'request') as Promise<[{ socket: Socket }, ServerResponse]>;
    const reader = await RawConnection.open(t, port);
    reader.socket.pause();
    reader.send(listRequest);
    const [{ socket }, response] = await request;
    await eventually(() => {
      assert.ok(socket.destroyed);
    });
    assert.equal(response.writableFinished, false);
    await eventually(() => {
      assert.equal(response.listenerCount('drain'), 0);
    });
    assert.deepEqual(faults, []);
  });
});
