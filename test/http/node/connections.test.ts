import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import type { EvictionMessage } from '../../../src/http.ts';
import { eventuallyEqual, untilStill } from '../../support/eventually.ts';
import { mockClock } from '../../support/mock-timers.ts';
import { exchange, listRequest, post, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import { createLongList } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/**
 * Starts a service. Ada has 40 MB of plants. Returns the accepted connections, and the indexes of the evicted
 * connections among them, in the order of eviction.
 */
async function start(t: HasAfter, maxConnections: number) {
  const { server, port, store } = await startService(t);
  await createLongList(store);
  server.maxConnections = maxConnections;
  const [accepted, evicted]: [Socket[], number[]] = [[], []];
  server.on('connection', (socket) => accepted.push(socket));
  const onEvicted = (message: unknown): void => {
    const { server: from, socket } = message as EvictionMessage;
    if (from === server) evicted.push(accepted.indexOf(socket));
  };
  subscribe('plant-store:connection:evicted', onEvicted);
  t.after(() => void unsubscribe('plant-store:connection:evicted', onEvicted));
  return { port, accepted, evicted };
}

type Service = Awaited<ReturnType<typeof start>>;

const request = 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n';

/** Opens a connection, sends a request, and waits for the response. */
async function finishOne(t: HasAfter, port: number): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port, request);
  await connection.until(/\}$/);
  return connection;
}

/** Opens a connection and sends text without reading anything. Waits until the server makes no more progress. */
async function stall(t: HasAfter, { port, accepted }: Service, text: string): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port);
  connection.socket.pause();
  connection.send(text);
  await eventuallyEqual(() => accepted.at(-1)?.bytesRead, text.length);
  await untilStill(() => accepted.at(-1)?.bytesWritten ?? 0);
  return connection;
}

it('a crowded server evicts the least recently active connection after a second without progress', async (t) => {
  const service = await start(t, 6);
  const { port, evicted } = service;
  const clock = mockClock(t);
  const stalled: RawConnection[] = [];
  // One client sends nothing, one sends part of a body, and one does not read a list that exceeds the socket buffers.
  for (const text of ['', post('{"id":1', 100), listRequest]) {
    stalled.push(await stall(t, service, text));
    clock.nowMs += 100;
  }
  const partOfHeader = await finishOne(t, port);
  partOfHeader.send('GET /pla');
  stalled.push(partOfHeader);
  clock.nowMs = 1099;
  // With five connections, no eviction is necessary.
  await finishOne(t, port);
  assert.deepEqual(evicted, []);
  await finishOne(t, port);
  assert.deepEqual(evicted, [0]);
  for (const index of [1, 2, 3]) {
    clock.nowMs = 1001 + 100 * index;
    await finishOne(t, port);
    assert.deepEqual(evicted, [0, 1, 2, 3].slice(0, index + 1));
  }
  for (const connection of stalled) {
    connection.socket.resume();
    await connection.untilClosed();
  }
});

it('a crowded server does not evict a connection while its client reads a list', async (t) => {
  const service = await start(t, 4);
  const { port, accepted, evicted } = service;
  const clock = mockClock(t);
  const { socket } = await stall(t, service, listRequest);
  const [readSocket] = accepted;
  assert.ok(readSocket);
  for (let round = 0; round < 3; round++) {
    clock.nowMs += 900;
    const drained = once(readSocket, 'drain');
    socket.resume();
    await drained;
    socket.pause();
    await finishOne(t, port);
    assert.ok(!evicted.includes(0));
  }
  assert.ok(evicted.length > 0, 'other connections were evicted');
  await untilStill(() => readSocket.bytesWritten);
  clock.nowMs += 1001;
  for (let n = 0; n < 3; n++) await finishOne(t, port);
  assert.ok(evicted.includes(0), 'it is evicted after its client has stopped reading');
});

it('a full server evicts connections without a complete request at once, and others after a second', async (t) => {
  const service = await start(t, 4);
  const { port, evicted } = service;
  const clock = mockClock(t);
  const first = await finishOne(t, port);
  for (const text of ['', 'GET /plants HTTP/1.1\r\n']) await stall(t, service, text);
  assert.deepEqual(evicted, []);
  for (const expected of [[1], [1, 2]]) {
    await finishOne(t, port);
    assert.deepEqual(evicted, expected);
  }
  // The new connection is the only one that has not sent a request, but it is not evicted.
  await finishOne(t, port);
  assert.deepEqual(evicted, [1, 2]);
  clock.nowMs = 500;
  first.send(request);
  await first.until(/\}HTTP[^]*\}$/);
  for (const { nowMs, expected } of [
    { nowMs: 1000, expected: [1, 2] },
    { nowMs: 1001, expected: [1, 2, 3] },
  ]) {
    clock.nowMs = nowMs;
    // The server is full, and refuses this connection.
    await exchange(t, port, '');
    assert.deepEqual(evicted, expected);
  }
  await finishOne(t, port);
});
