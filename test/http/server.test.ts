import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { createPlantServer, drainServer } from '../../src/http/index.ts';
import { assertDescribed } from '../helpers/described.ts';
import { eventually } from '../helpers/eventually.ts';
import { parseRawAnswer, RawConnection } from '../helpers/raw-http.ts';
import { authenticateByName } from '../helpers/service.ts';
import type { HasAfter } from '../helpers/temporary-folder.ts';

const head = 'Host: x\r\nAuthorization: Bearer ada\r\n';
const post = (body: string, length = body.length): string =>
  `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

interface Started {
  readonly server: Server;
  readonly store: PlantStore;
  readonly port: number;
  readonly faults: unknown[];
}

async function start(t: HasAfter, storage = new MemoryStorage()): Promise<Started> {
  const store = new PlantStore({ storage });
  const faults: unknown[] = [];
  const server = createPlantServer(store, { authenticate: authenticateByName, onError: (error) => faults.push(error) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    if (server.listening) await drainServer(server, 0);
    await store.close();
  });
  return { server, store, port: (server.address() as AddressInfo).port, faults };
}

function assertError(text: string, status: number, error: number): void {
  const answer = parseRawAnswer(text);
  assert.deepEqual([answer.status, (answer.json as { error: number }).error], [status, error]);
  const headers = answer.head.split('\r\n').slice(1).map((line) => line.split(': ') as [string, string]);
  assertDescribed('GET', '/plants', { status, headers: new Headers(headers), text: JSON.stringify(answer.json) });
}

describe('What node:http refuses by itself', () => {
  it('has an Error body too', async (t) => {
    const { port } = await start(t);
    const refused = [
      ['GET /plants HTTP/1.1\r\nHost x\r\n\r\n', 400, 40009],
      ['GET /plants HTTP/9.9\r\n\r\n', 400, 40009],
      ['\0\0\0\0', 400, 40009],
      [`GET /plants HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 43100],
    ] as const;
    for (const [text, status, error] of refused) {
      const connection = await RawConnection.open(t, port);
      connection.send(text);
      assertError(await connection.untilClosed(), status, error);
    }
  });

  it('is a 408 where a request does not arrive in time', async (t) => {
    const { server, port } = await start(t);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    for (const text of ['GET /plants HTT', post('{"id":1', 100)]) {
      const connection = await RawConnection.open(t, port);
      connection.send(text);
      assertError(await connection.untilClosed(), 408, 40800);
    }
  });

  it('does not take away the answer of a good request before it', async (t) => {
    const storage = new MemoryStorage();
    const { store, port, faults } = await start(t, storage);
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    const list = storage.list.bind(storage);
    const entered = Promise.withResolvers<undefined>();
    storage.list = (user, range) => {
      entered.resolve(undefined);
      return new Promise((resolve) => setTimeout(resolve, 50)).then(() => list(user, range));
    };
    const connection = await RawConnection.open(t, port);
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    await entered.promise;
    connection.send('garbage\r\n\r\n');
    assert.deepEqual(parseRawAnswer(await connection.untilClosed()).json, [{ name: 'Fern' }]);
    assert.deepEqual(faults, []);
  });
});

describe('A client that goes away in the middle of its body', () => {
  it('is no fault, and creates nothing', async (t) => {
    const { store, server, port, faults } = await start(t);
    const connection = await RawConnection.open(t, port);
    const received = once(server, 'request');
    connection.send(post('{"id":1,"name":"Fe', 100));
    await received;
    connection.socket.resetAndDestroy();
    const other = await RawConnection.open(t, port);
    other.send('GET /pl');
    other.socket.resetAndDestroy();
    await drainServer(server, 5000);
    assert.deepEqual(await store.listPlants('ada'), []);
    assert.deepEqual(faults, []);
  });
});

describe('A client that goes away while its list is read', () => {
  it('leaves nobody waiting for it', async (t) => {
    const storage = new MemoryStorage();
    const { store, server, port } = await start(t, storage);
    const name = 'x'.repeat(2000);
    await Promise.all(Array.from({ length: 5000 }, (_, id) => store.createPlant('ada', { id, name })));
    const list = storage.list.bind(storage);
    const [third, mayGoOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let reads = 0;
    storage.list = async (user, range) => {
      if (++reads === 3) {
        third.resolve(undefined);
        await mayGoOn.promise;
      }
      return list(user, range);
    };
    const responses = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const connection = await RawConnection.open(t, port);
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    const [, response] = await responses;
    await third.promise;
    const gone = once(response, 'close');
    connection.socket.destroy();
    await gone;
    mayGoOn.resolve(undefined);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.equal(reads, 3);
    assert.equal(response.listenerCount('drain'), 0);
  });
});

describe('A body that is far too large', () => {
  it('is answered while it still comes, and then the connection is closed', async (t) => {
    const { port } = await start(t);
    const connection = await RawConnection.open(t, port);
    connection.send(post('', 1e12));
    for (let n = 0; n < 18; n++) connection.send(' '.repeat(65_536));
    const { status, json, head: headers } = parseRawAnswer(await connection.until(/\}$/));
    assert.deepEqual([status, (json as { error: number }).error], [400, 40008]);
    assert.match(headers, /^Connection: close\r?$/m);
    await connection.untilClosed();
  });
});

describe('drainServer', () => {
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
    await eventually(() => { assert.ok(socket.bytesRead > 0); });
    const drained = drainServer(server, 60_000);
    connection.send(`${head}\r\n`);
    const answer = await connection.untilClosed();
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /\r\nConnection: close\r\n/);
    await drained;
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
