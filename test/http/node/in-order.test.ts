import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { drainServer } from '../../../src/http.ts';
import { inOrder } from '../../../src/http/node/in-order.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import {
  chunkedPost,
  createRequest,
  exchange,
  get,
  head,
  listRequest,
  openAccepted,
  parseRawAnswers,
  post,
  RawConnection,
  statusesIn,
} from '../../support/raw-http.ts';
import { heldStorage } from '../../support/held-storage.ts';
import {
  countConnections,
  createListener,
  startHeldService,
  startImpatientService,
  startService,
} from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const lastList = get('/plants', 'Connection: close\r\n');
const remove = (id: number): string => `DELETE /plants/${id} HTTP/1.1\r\n${head}\r\n`;

describe('pipelined requests', () => {
  it('take effect one after another', async (t) => {
    const storage = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
    const { port } = await startService(t, { storage });
    const ids = Array.from({ length: 20 }, (_, id) => id);
    const creates = ids.map(createRequest).join('') + listRequest;
    const changes = remove(7) + createRequest(7) + createRequest(7) + remove(8) + lastList;
    const answers = parseRawAnswers(await exchange(t, port, creates + changes));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses, [...ids.map(() => 200), 200, 204, 200, 400, 204, 200]);
    const names = ids.map((id) => ({ name: `plant ${id}` }));
    assert.deepEqual([answers[20]?.json, answers.at(-1)?.json], [names, names.toSpliced(8, 1)]);
  });

  it('take effect in order of arrival, even if the application calls the listener in another order', async (t) => {
    const { listener } = createListener(t);
    const delays = [30, 1, 15];
    const server = createServer((request, response) => {
      setTimeout(() => {
        listener(request, response);
      }, delays.shift());
    });
    const port = await listen(t, server);
    const answers = parseRawAnswers(await exchange(t, port, createRequest(1) + createRequest(2) + lastList));
    assert.deepEqual(answers.at(-1)?.json, [{ name: 'plant 1' }, { name: 'plant 2' }]);
  });

  it('are not handled if an earlier request closes the connection', async (t) => {
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
      const received = await exchange(t, port, createRequest(1) + last + createRequest(2));
      assert.deepEqual(statusesIn(received), [200, status]);
      assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'plant 1' }]);
      assert.equal(begun, status === 200 ? 2 : 1);
    }
  });

  it('are not handled if they arrive after the response that closes the connection', async (t) => {
    let begun = 0;
    const { port } = await startService(t, { authenticate: (user) => (begun++, { user }) });
    const withoutToken = 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
    const connection = await RawConnection.open(t, port, `${withoutToken}ab`);
    await connection.until(/\}$/);
    connection.send(`cde${listRequest}`);
    assert.deepEqual(statusesIn(await connection.untilClosed()), [401]);
    assert.equal(begun, 0);
  });

  it('pause the connection while they wait, after at most one more read', async (t) => {
    const service = await startHeldService(t);
    const [connection, socket] = await openAccepted(t, service);
    // Some bodies arrive in two reads. node:http resumes the connection while such a body is incomplete.
    const creates = Array.from({ length: 200 }, (_, id) => post(`{"id":${id},"name":"${'x'.repeat(60_000)}"}`));
    connection.send(
      createRequest(1000) + remove(1).repeat(300) + creates.join('') + lastList.replace('plants', 'plants?limit=1'),
    );
    await service.committing;
    for (let before = -1; before !== socket.bytesRead;) {
      before = socket.bytesRead;
      await sleep(50);
    }
    assert.ok(socket.bytesRead <= 2 * 65_536, `${socket.bytesRead} bytes were read`);
    service.release();
    const statuses = [200, ...Array<number>(300).fill(404), ...Array<number>(201).fill(200)];
    assert.deepEqual(statusesIn(await connection.untilClosed()), statuses);
    assert.equal((await service.store.listPlants('ada')).length, 201);
  });

  it('are dropped when their client disconnects', async (t) => {
    const { server, store, port, faults, release, committing } = await startHeldService(t);
    const connection = await RawConnection.open(t, port, createRequest(1) + createRequest(2) + createRequest(3));
    await committing;
    connection.socket.resetAndDestroy();
    await sleep(20);
    release();
    await eventuallyEqual(() => countConnections(server), 0);
    const plants = await store.listPlants('ada');
    assert.ok(plants.length <= 1, 'only the first request had begun');
    assert.deepEqual(faults, []);
  });

  it('all receive responses from a draining server, and the last response has Connection: close', async (t) => {
    const { server, port, release, committing } = await startHeldService(t);
    const connection = await RawConnection.open(t, port, createRequest(1) + createRequest(2) + listRequest);
    await committing;
    const drained = drainServer(server, 60_000);
    release();
    const answers = parseRawAnswers(await connection.untilClosed());
    const outcomes = answers.map(({ status, head: headers }) => [status, headers.includes('Connection: close')].join());
    assert.deepEqual(outcomes, ['200,false', '200,false', '200,true']);
    await drained;
  });
});

/** Starts a server on which up to 10 requests can wait. The test ends the responses. */
async function startHeld(t: HasAfter): Promise<{ port: number; begun: ServerResponse[]; sockets: Socket[] }> {
  const begun: ServerResponse[] = [];
  const sockets: Socket[] = [];
  const listener = inOrder((_, response) => begun.push(response), 10);
  const server = createServer(listener).on('connection', (socket: Socket) => sockets.push(socket));
  return { port: await listen(t, server), begun, sockets };
}

/** Sends requests on a new connection, and waits until the first of them has begun. */
async function pipeline(t: HasAfter, port: number, begun: unknown[], count: number): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port);
  const before = begun.length;
  connection.send(listRequest.repeat(count));
  await eventuallyEqual(() => begun.length, before + 1);
  return connection;
}

/** Ends `count` responses on a connection one after another. */
async function endResponses(begun: ServerResponse[], connection: RawConnection, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await eventuallyEqual(() => begun.length, 1);
    const text = randomUUID();
    begun.pop()?.end(text);
    await connection.until(new RegExp(text));
  }
}

describe('pipelined requests that wait', () => {
  it('cause their connection to be closed if they exceed its share, which is at most half the maximum', async (t) => {
    const { port, begun, sockets } = await startHeld(t);
    const first = await pipeline(t, port, begun, 1 + 5);
    // Five more requests can wait: at most three on a second connection, and then one on a third.
    const second = await pipeline(t, port, begun, 1 + 3);
    const third = await pipeline(t, port, begun, 1 + 1);
    const fourth = await pipeline(t, port, begun, 1 + 2);
    await fourth.untilClosed();
    assert.deepEqual(
      [first, second, third].map(({ socket }) => socket.destroyed),
      [false, false, false],
    );
    assert.deepEqual(
      sockets.map(({ destroyed }) => destroyed),
      [false, false, false, true],
    );
  });

  it('are no longer counted after they have begun or their connection has been closed', async (t) => {
    const { port, begun, sockets } = await startHeld(t);
    for (let n = 0; n < 3; n++) {
      const tooMany = await pipeline(t, port, begun, 1 + 6);
      await tooMany.untilClosed();
      begun.length = 0;
      const connection = await pipeline(t, port, begun, 1 + 5);
      await endResponses(begun, connection, 6);
      assert.equal(sockets.at(-1)?.listenerCount('resume'), 1, 'only node:http listens');
      const left = await pipeline(t, port, begun, 1 + 5);
      left.socket.resetAndDestroy();
      // A paused socket does not notice a disconnect until the server writes to it.
      begun.pop()?.end('done');
    }
  });

  it('begin in separate event loop iterations, even if earlier responses end immediately', async () => {
    const socket = new Socket();
    const responses = Array.from({ length: 3 }, () => new ServerResponse(new IncomingMessage(socket)));
    let begun = 0;
    const listener = inOrder((_, response) => {
      begun++;
      response.destroy();
      // When a response has been sent, node:http assigns the socket to the next response.
      responses[begun]?.assignSocket(new Socket());
    }, 10);
    responses[0]?.assignSocket(new Socket());
    for (const response of responses) listener(response.req, response);
    for (const expected of [1, 2, 3, 3]) {
      assert.equal(begun, expected);
      await nextTurn();
    }
  });
});

describe('input after pipelined requests', { concurrency: true }, () => {
  for (const [name, text, status] of [
    ['garbage', 'garbage\r\n\r\n', 400],
    ['a body with a bad chunk', `${chunkedPost}zz\r\n`, 400],
    ['half a request, then the end of the stream', 'POST /plants HT', 400],
    ['a header that times out', 'GET /pla', 408],
    ['a body that times out', post('{"id":3', 100), 408],
  ] as const) {
    it(`does not affect the responses to these requests: ${name}`, async (t) => {
      const start = status === 408 ? startImpatientService : startService;
      const { storage, release, committing } = heldStorage();
      const { server, store, port, faults } = await start(t, { storage });
      const refusal = once(server, 'clientError');
      const connection = await RawConnection.open(t, port, createRequest(1));
      await committing;
      connection.send(createRequest(2) + text);
      if (name.startsWith('half')) connection.socket.end();
      await (status === 408 ? refusal : Promise.race([refusal, sleep(100)]));
      release();
      assert.deepEqual(statusesIn(await connection.untilClosed()), [200, 200, status]);
      assert.equal((await store.listPlants('ada')).length, 2);
      assert.deepEqual(faults, []);
    });
  }

  it('causes no 408 response if it consists of complete or unread requests', async (t) => {
    const { storage, release, committing } = heldStorage();
    const { port } = await startImpatientService(t, { storage });
    const connection = await RawConnection.open(t, port, createRequest(1) + listRequest);
    await committing;
    connection.send(createRequest(2) + lastList);
    // This is longer than the interval at which node:http checks for timeouts.
    await sleep(1200);
    release();
    const answers = parseRawAnswers(await connection.untilClosed());
    const [first, second] = [{ name: 'plant 1' }, { name: 'plant 2' }];
    assert.deepEqual(
      answers.map(({ json }) => json),
      [first, [first], second, [first, second]],
    );
  });
});
