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
import { createListener, startService } from '../../support/service.ts';

const statusesIn = (text: string): number[] => parseRawAnswers(text).map(({ status }) => status);

it('pipelined requests take effect in order, even if the listener is called in another order', async (t) => {
  const { listener } = createListener(t);
  const delays = [30, 1, 15];
  const server = createServer((request, response) => {
    setTimeout(() => void listener(request, response), delays.shift());
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

it('pipelined requests are dropped when their client disconnects, and their promises resolve', async (t) => {
  const [storage, held] = [new HookedStorage(), new Hold()];
  storage.beforeCommit = held.hook;
  t.after(held.release);
  const { listener, store, faults } = createListener(t, { storage });
  let pending = 0;
  let last: Parameters<ServiceListener> | undefined;
  const server = createServer((request, response) => {
    pending++;
    last = [request, response];
    void listener(request, response).then(() => pending--);
  });
  const port = await listen(t, server);
  const connection = await RawConnection.open(t, port, createRequest(1) + createRequest(2) + listRequest);
  await eventuallyEqual(() => pending, 3);
  connection.socket.resetAndDestroy();
  // The first request waits for its commit.
  await eventuallyEqual(() => pending, 1);
  // An application can also call the listener after the disconnect.
  await listener(...(last ?? assert.fail()));
  held.release();
  await eventuallyEqual(() => pending, 0);
  assert.deepEqual([await store.listPlants('ada'), faults], [[{ id: 1n, name: 'plant 1' }], []]);
});

it('pipelined requests hold no permit while they wait, and more than 32 close their connection', async (t) => {
  // Ada can hold two permits.
  const [storage, held] = [new HookedStorage(), new Hold()];
  storage.beforeCommit = held.hook;
  const service = await startService(t, { storage, maxInFlight: 3 });
  const { port, call } = service;
  const waiting = listRequest.repeat(31) + lastList;
  const allowed = await RawConnection.open(t, port, createRequest(1) + waiting);
  await held.begun;
  assert.equal((await call('GET', '/plants?limit=0')).status, 200);
  const tooMany = await RawConnection.open(t, port, createRequest(2) + listRequest + waiting);
  assert.equal(await tooMany.untilClosed(), '');
  held.release();
  assert.equal(statusesIn(await allowed.untilClosed()).length, 33);
  // A connection can send more than 32 requests if at most 32 wait at a time.
  const [connection, socket] = await openAccepted(t, service);
  for (let round = 1; round <= 3; round++) {
    connection.send(listRequest.repeat(29) + get(`/plants?limit=x${round}`));
    await connection.until(new RegExp(`(?:400 Bad Request[^]*){${round}}\\}$`));
  }
  assert.ok(socket.listenerCount('close') < 20, 'no listener remains for each request');
});

const upgrade = 'Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\n';
const deletion = `DELETE /plants/1 HTTP/1.1\r\n${head}\r\n`;
const upgradeRequests = [
  { text: get('/plants?limit=0', upgrade), stored: ['Fern', 'plant 3'] },
  { text: createRequest(2).replace('\r\n', `\r\n${upgrade}`), stored: ['Fern', 'plant 2', 'plant 3'] },
  { text: get('/nothing', upgrade), stored: ['Fern', 'plant 3'] },
];

const hosts: readonly ((listener: ServiceListener) => Server)[] = [
  (listener) =>
    createServerFor((request, response) => {
      // Another listener, such as that of the page /docs, handles some requests.
      if (request.url === '/nothing') response.end('"docs"');
      else void listener(request, response);
    }),
  (listener) => createServer(express().use(listener, (_, response) => response.json('other'))),
];

it('a request with Upgrade is the last one of its connection, and later input has no effect', async (t) => {
  for (const serve of hosts) {
    for (const { text, stored } of upgradeRequests) {
      const [storage, held] = [new HookedStorage(), new Hold()];
      const { listener, store } = createListener(t, { storage });
      await store.createPlant('ada', { id: 1, name: 'Fern' });
      storage.beforeCommit = held.hook;
      const server = Object.assign(serve(listener), { keepAliveTimeout: 1000 });
      const [connection, socket] = await openAccepted(t, { server, port: await listen(t, server) });
      // node:http drops the rest of the packet, and reads the next packet as a request.
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
      assert.deepEqual([answers.length, answers[1]?.headers.get('connection')], [2, 'close']);
      const names = (await store.listPlants('ada')).map(({ name }) => name);
      assert.deepEqual(names, stored);
    }
  }
});
