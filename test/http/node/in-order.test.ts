import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import type { StorageAdapter } from '../../../src/index.ts';
import { drainServer } from '../../../src/http.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { eventually } from '../../support/eventually.ts';
import { heldStorage } from '../../support/held-storage.ts';
import { createRequest, get, head, listRequest, parseRawAnswers, post, RawConnection } from '../../support/raw-http.ts';
import { countConnections, startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const lastList = get('/plants', 'Connection: close\r\n');
const remove = (id: number): string => `DELETE /plants/${id} HTTP/1.1\r\n${head}\r\n`;

describe('pipelined requests', () => {
  const storages: [string, (folder: string) => StorageAdapter][] = [
    ['memory', () => new MemoryStorage()],
    ['SQLite', (folder) => new SqliteStorage(join(folder, 'plants.db'))],
  ];
  for (const [name, open] of storages) {
    it(`take effect one after another, over ${name}`, async (t) => {
      const { port } = await startService(t, { storage: open(await temporaryFolder(t)) });
      const connection = await RawConnection.open(t, port);
      const ids = Array.from({ length: 20 }, (_, id) => id);
      connection.send(
        ids.map(createRequest).join('') +
          listRequest +
          remove(7) +
          createRequest(7) +
          createRequest(7) +
          remove(8) +
          lastList,
      );
      const answers = parseRawAnswers(await connection.untilClosed());
      assert.deepEqual(
        answers.map(({ status }) => status),
        [...ids.map(() => 200), 200, 204, 200, 400, 204, 200],
      );
      assert.deepEqual(
        answers[20]?.json,
        ids.map((id) => ({ name: `plant ${id}` })),
      );
      assert.deepEqual(
        answers.at(-1)?.json,
        ids.filter((id) => id !== 8).map((id) => ({ name: `plant ${id}` })),
      );
    });
  }

  it('are not handled after a request that closes the connection', async (t) => {
    const lastOnes = [
      [lastList, 200],
      ['GET /plants HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
      [`GET /plants HTTP/1.0\r\n${head}\r\n`, 200],
      // node:http drops data that arrives with this request, and parses later data as a new request.
      [`GET /plants HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`, 200],
    ] as const;
    for (const [last, status] of lastOnes) {
      let begun = 0;
      const { store, port } = await startService(t, { authenticate: (user) => (begun++, { user }) });
      const connection = await RawConnection.open(t, port);
      connection.send(createRequest(1) + last + createRequest(2));
      const answers = parseRawAnswers(await connection.untilClosed());
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [200, status],
      );
      assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'plant 1' }]);
      assert.equal(begun, status === 200 ? 2 : 1);
    }
  });

  it('are not read from the connection while they wait, except for one read', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, store, port } = await startService(t, { storage });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const connection = await RawConnection.open(t, port);
    const [socket] = await accepted;
    // Also bodies longer than one read, because node:http continues to read to fill their buffers.
    const creates = Array.from({ length: 200 }, (_, id) => post(`{"id":${id},"name":"${'x'.repeat(60_000)}"}`));
    connection.send(
      createRequest(1000) + remove(1).repeat(300) + creates.join('') + lastList.replace('plants', 'plants?limit=1'),
    );
    await committing;
    let before = -1;
    await eventually(async () => {
      const now = socket.bytesRead;
      const isStill = now === before;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(isStill);
    });
    assert.ok(socket.bytesRead <= 2 * 65_536, `${socket.bytesRead} bytes were read`);
    release();
    const answers = parseRawAnswers(await connection.untilClosed());
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, ...Array<number>(300).fill(404), ...Array<number>(201).fill(200)],
    );
    assert.equal((await store.listPlants('ada')).length, 201);
  });

  it('close the connection that has the most of them if too many wait on all connections', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, store, port } = await startService(t, { storage, maxInFlight: 1 });
    let requests = 0;
    server.on('request', () => {
      requests++;
    });
    const first = await RawConnection.open(t, port);
    first.send(createRequest(0));
    await committing;
    // Ten times maxInFlight.
    first.send(Array.from({ length: 10 }, (_, n) => createRequest(n + 1)).join(''));
    await eventually(() => {
      assert.equal(requests, 11);
    });
    const second = await RawConnection.open(t, port);
    second.send(listRequest + listRequest);
    await second.until(/HTTP[^]*HTTP/);
    assert.doesNotMatch(await first.untilClosed(), /HTTP/, 'the connection with the most requests is closed');
    release();
    await eventually(async () => {
      assert.equal((await store.listPlants('ada')).length, 1);
    });
    // The requests of a client that disconnects are no longer counted.
    for (let n = 0; n < 3; n++) {
      const next = await RawConnection.open(t, port);
      next.send(listRequest.repeat(11));
      if (n < 2) next.socket.resetAndDestroy();
      else await next.until(/(?:HTTP[^]*){11}/);
    }
  });

  it('are no longer counted after their client disconnects', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await startService(t, { storage, maxInFlight: 1 });
    let requests = 0;
    server.on('request', () => {
      requests++;
    });
    const first = await RawConnection.open(t, port);
    first.send(Array.from({ length: 11 }, (_, id) => createRequest(id)).join(''));
    await committing;
    await eventually(() => {
      assert.equal(requests, 11);
    });
    first.socket.resetAndDestroy();
    // A paused socket does not notice a disconnect until the server writes to it.
    release();
    await eventually(async () => {
      const second = await RawConnection.open(t, port);
      second.send(listRequest.repeat(11));
      await second.until(/(?:HTTP[^]*){11}/);
    });
  });

  it('are handled at most once per event loop iteration', async (t) => {
    let [begun, most] = [0, 0];
    const { port } = await startService(t, { authenticate: (user) => (begun++, { user }) });
    const connection = await RawConnection.open(t, port);
    const look = (): void => {
      most = Math.max(most, begun);
      begun = 0;
      turn = setImmediate(look);
    };
    let turn = setImmediate(look);
    t.after(() => {
      clearImmediate(turn);
    });
    connection.send(listRequest.repeat(50) + lastList);
    assert.equal(parseRawAnswers(await connection.untilClosed()).length, 51);
    assert.equal(most, 1);
  });

  it('are dropped when their client disconnects', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, store, port, faults } = await startService(t, { storage });
    const connection = await RawConnection.open(t, port);
    connection.send(createRequest(1) + createRequest(2) + createRequest(3));
    await committing;
    connection.socket.resetAndDestroy();
    await eventually(async () => {
      const count = await countConnections(server);
      release();
      assert.equal(count, 0);
    });
    const plants = await store.listPlants('ada');
    assert.ok(plants.length <= 1, 'only the first request had begun');
    assert.deepEqual(faults, []);
  });

  it('all get responses from a draining server, the last with Connection: close', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { server, port } = await startService(t, { storage });
    const connection = await RawConnection.open(t, port);
    connection.send(createRequest(1) + createRequest(2) + listRequest);
    await committing;
    const drained = drainServer(server, 60_000);
    release();
    const answers = parseRawAnswers(await connection.untilClosed());
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual(
      answers.map(({ head: headers }) => /^Connection: close\r?$/m.test(headers)),
      [false, false, true],
    );
    await drained;
  });
});

describe('invalid input after pipelined requests', () => {
  const bad = [
    ['garbage', 'garbage\r\n\r\n', [400]],
    [
      'a body with a bad chunk',
      `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      [400],
    ],
    ['CONNECT', 'CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n', [404]],
    ['half a request, then the end of the stream', 'POST /plants HT', [400]],
  ] as const;
  for (const [name, text, statuses] of bad) {
    it(`does not affect their responses: ${name}`, async (t) => {
      const { storage, release, committing } = heldStorage();
      const { server, store, port, faults } = await startService(t, { storage });
      const refusal = once(server, name === 'CONNECT' ? 'connect' : 'clientError');
      const connection = await RawConnection.open(t, port);
      connection.send(createRequest(1));
      await committing;
      connection.send(createRequest(2) + text);
      if (name.startsWith('half')) connection.socket.end();
      await Promise.race([refusal, new Promise((resolve) => setTimeout(resolve, 100))]);
      release();
      const answers = parseRawAnswers(await connection.untilClosed());
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, ...statuses],
      );
      assert.equal((await store.listPlants('ada')).length, 2);
      assert.deepEqual(faults, []);
    });
  }
});
