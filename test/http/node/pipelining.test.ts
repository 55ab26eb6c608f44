import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { it } from 'node:test';
import express from 'express';
import type { ServiceListener } from '../../../src/http/node/listener.ts';
import { createServerFor } from '../../../src/http/node/server.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { Hold, HookedStorage } from '../../support/hooked-storage.ts';
import { listen } from '../../support/listen.ts';
import { createRequest, exchange, get, head, lastList, listRequest } from '../../support/raw-http.ts';
import { openAccepted, parseRawAnswers, post, RawConnection } from '../../support/raw-http.ts';
import { createListener, startHeldService, startService } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const statusesIn = (text: string): number[] => parseRawAnswers(text).map(({ status }) => status);

it('pipelined requests take effect in order, even if the listener is called in another order', async (t) => {
  const { listener } = createListener(t);
  const delays = [30, 1, 15];
  const server = createServer((request, response) => {
    setTimeout(() => {
      void listener(request, response);
    }, delays.shift());
  });
  const port = await listen(t, server);
  const answers = parseRawAnswers(await exchange(t, port, createRequest(1) + createRequest(2) + lastList));
  assert.deepEqual(answers.at(-1)?.json, [{ name: 'plant 1' }, { name: 'plant 2' }]);
});

it('pipelined requests are not handled if an earlier response closes the connection', async (t) => {
  for (const { last, statuses } of [
    { last: 'GET /plants HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', statuses: [200, 400] },
    { last: `GET /plants HTTP/1.0\r\n${head}\r\n`, statuses: [200] },
  ]) {
    const { store, port } = await startService(t);
    const received = await exchange(t, port, createRequest(1) + last + createRequest(2));
    assert.deepEqual(statusesIn(received), statuses);
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'plant 1' }]);
  }
});

it('pipelined requests are dropped when their client disconnects, and the application no longer waits', async (t) => {
  const [storage, held] = [new HookedStorage(), new Hold()];
  storage.beforeCommit = held.hook;
  t.after(held.release);
  const { listener, store, faults } = createListener(t, { storage });
  let pending = 0;
  const server = createServer((request, response) => {
    pending++;
    void listener(request, response).then(() => pending--);
  });
  const port = await listen(t, server);
  const connection = await RawConnection.open(t, port, createRequest(1) + createRequest(2) + listRequest);
  await eventuallyEqual(() => pending, 3);
  connection.socket.resetAndDestroy();
  // The first request waits for its commit.
  await eventuallyEqual(() => pending, 1);
  held.release();
  await eventuallyEqual(() => pending, 0);
  assert.deepEqual([await store.listPlants('ada'), faults], [[{ id: 1n, name: 'plant 1' }], []]);
});

it('pipelined requests cause their connection to be closed if more than 32 of them wait', async (t) => {
  const { port, held } = await startHeldService(t);
  const waiting = listRequest.repeat(31) + lastList;
  const allowed = await RawConnection.open(t, port, createRequest(1) + waiting);
  await held.begun;
  const tooMany = await RawConnection.open(t, port, createRequest(2) + listRequest + waiting);
  assert.equal(await tooMany.untilClosed(), '');
  held.release();
  assert.equal(statusesIn(await allowed.untilClosed()).length, 33);
});

it('pipelined requests may be more than 32 if no more than 32 of them wait at a time', async (t) => {
  const { port } = await startService(t);
  const connection = await RawConnection.open(t, port);
  for (let round = 1; round <= 3; round++) {
    connection.send(listRequest.repeat(29) + get(`/plants?limit=x${round}`));
    await connection.until(new RegExp(`(?:400 Bad Request[^]*){${round}}\\}$`));
  }
});

it('pipelined requests do not hold a permit while they wait', async (t) => {
  const service = await startHeldService(t, { maxInFlight: 3 });
  // Ada can hold two permits.
  const connection = await RawConnection.open(t, service.port, [1, 2, 3].map(createRequest).join(''));
  await service.held.begun;
  assert.equal((await service.call('GET', '/plants?limit=0')).status, 200);
  service.held.release();
  await connection.until(/plant 3/);
});

const upgrade = 'Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\n';
const deletion = `DELETE /plants/1 HTTP/1.1\r\n${head}\r\n`;
const upgradeRequests = {
  list: get('/plants?limit=0', upgrade),
  create: createRequest(2).replace('\r\n', `\r\n${upgrade}`),
  unknown: get('/nothing', upgrade),
};

const hosts: readonly ((listener: ServiceListener) => Server)[] = [
  createServerFor,
  (listener) => createServer((...call) => void listener(...call)),
  (listener) => createServer(express().use(listener, (_, response) => response.json('other'))),
];

/** node:http drops the rest of a packet after a request with `Upgrade`, and reads the next packet as a request. */
async function assertLast(t: HasAfter, serve: (listener: ServiceListener) => Server, text: string): Promise<void> {
  const [storage, held] = [new HookedStorage(), new Hold()];
  const { listener, store } = createListener(t, { storage });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  storage.beforeCommit = held.hook;
  const server = Object.assign(serve(listener), { keepAliveTimeout: 1000 });
  const [connection, socket] = await openAccepted(t, { server, port: await listen(t, server) });
  const packet = createRequest(3) + text + post('', 1000);
  connection.send(packet);
  await held.begun;
  connection.send(deletion);
  await eventuallyEqual(() => socket.bytesRead, packet.length + deletion.length);
  held.release();
  await connection.until(/HTTP[^]*HTTP/);
  connection.send(deletion);
  await eventuallyEqual(() => socket.bytesRead, packet.length + 2 * deletion.length);
  const answers = parseRawAnswers(await connection.untilClosed());
  assert.deepEqual([answers.length, answers[1]?.head.includes('Connection: close')], [2, true]);
  const created = text === upgradeRequests.create ? ['Fern', 'plant 2', 'plant 3'] : ['Fern', 'plant 3'];
  assert.deepEqual(
    (await store.listPlants('ada')).map((plant) => plant.name),
    created,
  );
}

it('a request with Upgrade is the last one of its connection, and what follows it has no effect', async (t) => {
  for (const serve of hosts) {
    for (const text of Object.values(upgradeRequests)) await assertLast(t, serve, text);
  }
});
