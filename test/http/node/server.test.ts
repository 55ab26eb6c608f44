import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { drainServer } from '../../../src/http.ts';
import { connectionLimit } from '../../../src/http/node/connections.ts';
import { readDocument } from '../../support/documents.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { Hold, HookedStorage } from '../../support/hooked-storage.ts';
import { listen } from '../../support/listen.ts';
import { mockClock } from '../../support/mock-timers.ts';
import { begin, get, head, listRequest, openAccepted, parseRawAnswers } from '../../support/raw-http.ts';
import { post, RawConnection } from '../../support/raw-http.ts';
import { createListener, startService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

it('drainServer ends incomplete requests after graceMs, by default 8 s', { timeout: 60_000 }, async (t) => {
  const { store, listener } = createListener(t);
  for (const { graceMs, endMs } of [{ endMs: 8000 }, { graceMs: 0, endMs: 0 }]) {
    const server = createServer((request, response) => void listener(request, response));
    const port = await listen(t, server);
    // With these settings, only drainServer closes the connections.
    Object.assign(server, { timeout: 0, requestTimeout: 0, keepAliveTimeout: 0 });
    const idle = await RawConnection.open(t, port, listRequest);
    await idle.until(/\[\]$/);
    const { connection } = await begin(t, { server, port }, post('{"id":1', 100));
    await assert.rejects(drainServer(server, { graceMs: 2 ** 31 }), /^TypeError: graceMs must be an integer/);
    const clock = mockClock(t);
    const drained = drainServer(server, { graceMs });
    clock.nowMs = endMs - 1;
    if (graceMs === undefined) assert.match(await idle.untilClosed(), /\[\]$/);
    await sleep(100);
    assert.equal(connection.socket.readyState, 'open');
    clock.nowMs = endMs;
    assert.equal(await drained, 1, 'an idle connection is not counted');
    assert.equal(await connection.untilClosed(), '');
  }
  assert.deepEqual(await store.listPlants('ada'), []);
});

it('drainServer finishes requests that arrive in its first second, and closes idle connections', async (t) => {
  const service = await startService(t);
  // With these settings, only drainServer closes the connections.
  Object.assign(service.server, { timeout: 0, keepAliveTimeout: 0 });
  const open = (): Promise<[RawConnection, Socket]> => openAccepted(t, service);
  const [[idle], [sent], [late, lateSocket]] = [await open(), await open(), await open()];
  for (const connection of [idle, sent, late]) {
    connection.send(listRequest);
    assert.match(await connection.until(/\[\]$/), /keep-alive/);
  }
  const [[silent], [partOfHeader, socket]] = [await open(), await open()];
  partOfHeader.send('GET /plants HTTP/1.1\r\n');
  await eventuallyEqual(() => socket.bytesRead > 0, true);
  const { connection: partOfBody } = await begin(t, service, post('{"id":1,"name":"Fe', 22));
  // The server has not read this request when draining begins.
  sent.send(listRequest);
  const clock = mockClock(t);
  const drained = drainServer(service.server, { graceMs: 60_000 });
  clock.nowMs = 999;
  await sleep(100);
  late.send('GET /plants HTTP/1.1\r\n');
  await eventuallyEqual(() => lateSocket.bytesRead > listRequest.length, true);
  clock.nowMs = 1000;
  assert.match(await idle.untilClosed(), /\[\]$/);
  for (const connection of [partOfHeader, late]) connection.send(`${head}\r\n`);
  // The second request is not handled.
  partOfBody.send(`rn"}${post('{"id":2,"name":"Ivy"}')}`);
  for (const connection of [sent, late, partOfHeader, partOfBody]) {
    const last = parseRawAnswers(await connection.untilClosed()).at(-1);
    assert.deepEqual([last?.status, last?.headers.get('connection')], [200, 'close']);
  }
  assert.equal(await silent.untilClosed(), '');
  assert.equal(await drained, 0);
  assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
});

it('drainServer lets a slow client finish reading a list, and closes idle connections meanwhile', async (t) => {
  const service = await startService(t);
  // With this setting, only drainServer closes the connection.
  service.server.keepAliveTimeout = 0;
  // The response has been written, but the buffers of the operating system cannot hold it.
  const name = 'x'.repeat(30_000_000);
  service.store.listPageJson = () => Promise.resolve({ json: `["${name}"]`, count: 1, lastId: 1n, hasMore: false });
  const { connection, response } = await begin(t, service, listRequest, { isPaused: true });
  await eventuallyEqual(() => response.writableEnded, true);
  const idle = await RawConnection.open(t, service.port, get('/openapi.json'));
  await idle.until(/\}$/);
  const clock = mockClock(t);
  const drained = drainServer(service.server, { graceMs: 60_000 });
  // More time than the default of graceMs has passed.
  clock.nowMs = 9000;
  await eventuallyEqual(() => idle.socket.destroyed, true);
  assert.deepEqual([response.writableEnded, response.writableFinished], [true, false]);
  connection.socket.resume();
  assert.ok((await connection.untilClosed()).endsWith(`["${name}"]`));
  assert.equal(await drained, 0, 'the connection was not closed at the end of graceMs');
});

it('drainServer responds to the next request of a client that was receiving a list', async (t) => {
  const storage = new HookedStorage();
  storage.maxPage = 1;
  const service = await startService(t, { storage });
  await createPlants(service.store, 2);
  const hold = new Hold();
  storage.beforeList = (_, { after }) => (after === undefined ? undefined : hold.hook());
  const { connection } = await begin(t, service, listRequest);
  await hold.begun;
  const drained = drainServer(service.server);
  hold.release();
  await connection.until(/\]\r\n0\r\n\r\n$/);
  connection.send(listRequest);
  assert.match(
    await connection.untilClosed(),
    /keep-alive[^]*\]\r\n0\r\n\r\nHTTP\/1.1 200 OK\r\n[^]*Connection: close/,
  );
  assert.equal(await drained, 0);
});

it('maxConnections reserves 96 file descriptors, but allows at least 8 connections', () => {
  assert.deepEqual([connectionLimit(1024), connectionLimit(64)], [928, 8]);
});

it('the limits of a server are those that docs/http-api.md lists', async (t) => {
  const { server } = await startService(t);
  assert.equal(server.maxConnections, connectionLimit());
  // The limit is lower if this process can open only a few files.
  server.maxConnections = connectionLimit(Infinity);
  const page = await readDocument('docs/http-api.md');
  const timeouts = ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'timeout'] as const;
  for (const property of [...timeouts, 'maxConnections'] as const) {
    const [, given = '', unit] =
      new RegExp(`^\\| [^|]+ \\| (?:about )?([\\d,]+)( s)? +\\| \`server\\.${property}\``, 'm').exec(page) ?? [];
    assert.equal(server[property], Number(given.replace(',', '')) * (unit === undefined ? 1 : 1000), property);
  }
});
