import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import type { Answered } from '../../support/call.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import {
  begin,
  chunkedPost,
  createRequest,
  exchange,
  get,
  parseRawAnswer,
  post,
  RawConnection,
} from '../../support/raw-http.ts';
import { createListener, startHeldService, startImpatientService, startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const incomplete = post('{"id":1,"name":"Fe', 22);

/** Sends a request that needs a permit, but not the storage. */
const listNothing = ({ call }: Service): Promise<Answered> => call('GET', '/plants?limit=0', { token: 'bob' });

/** Asserts that the only permit is held. */
async function assertHeld(service: Service): Promise<void> {
  assert.equal((await listNothing(service)).status, 503);
}

/** Waits until the only permit is free. */
async function untilFree(service: Service): Promise<void> {
  await eventuallyEqual(async () => (await listNothing(service)).status, 200);
}

/** Starts a service with one permit, where ada has 40 MB of plants, which the socket buffers cannot hold. */
async function startWithLongList(t: HasAfter): Promise<Service> {
  const service = await startService(t, { maxInFlight: 1 });
  await createPlants(service.store, 4000, 'x'.repeat(10_000));
  return service;
}

/** Opens a connection, requests a list, and reads nothing. Waits until the server has begun to send the list. */
async function stall(t: HasAfter, service: Service, target = '/plants'): ReturnType<typeof begin> {
  const begun = await begin(t, service, get(target), { isPaused: true });
  await eventuallyEqual(() => begun.response.headersSent, true);
  return begun;
}

describe('a request that is refused because no permit is free', () => {
  it('is refused before its body is read', async (t) => {
    const { port, release, committing } = await startHeldService(t, { maxInFlight: 1 });
    await RawConnection.open(t, port, createRequest(1));
    await committing;
    for (const text of [post('', 60_000), post('', 60_000).replace('\r\n', '\r\nExpect: 100-continue\r\n')]) {
      const { status, error, head: headers } = parseRawAnswer(await exchange(t, port, text));
      assert.deepEqual([status, error], [503, 50300]);
      assert.match(headers, /^Retry-After: 1\r?$/m);
      assert.match(headers, /^Connection: close\r?$/m);
    }
    release();
  });
});

describe('the permit of a request', { concurrency: true }, () => {
  it('is held while its body is incomplete, and free after the response', async (t) => {
    const service = await startService(t, { maxInFlight: 1 });
    const { connection } = await begin(t, service, incomplete);
    await assertHeld(service);
    connection.send('rn"}');
    await connection.until(/\}$/);
    assert.equal((await listNothing(service)).status, 200);
  });

  it('is not held while it waits for earlier requests of its connection', async (t) => {
    const service = await startHeldService(t, { maxInFlight: 3 });
    // Ada may hold two permits.
    const creates = [1, 2, 3].map(createRequest).join('');
    const connection = await RawConnection.open(t, service.port, creates);
    await service.committing;
    assert.equal((await service.call('GET', '/plants?limit=0')).status, 200);
    service.release();
    await connection.until(/plant 3/);
  });

  for (const [how, leave] of [
    ['ends', (connection: RawConnection) => connection.socket.destroy()],
    ['resets', (connection: RawConnection) => connection.socket.resetAndDestroy()],
  ] as const) {
    it(`is free if the client ${how} its connection while its body is incomplete`, async (t) => {
      const service = await startService(t, { maxInFlight: 1 });
      const { connection } = await begin(t, service, incomplete);
      await assertHeld(service);
      leave(connection);
      await untilFree(service);
      assert.deepEqual(service.faults, []);
    });

    it(`is free if the client ${how} its connection while its plant is being committed`, async (t) => {
      const service = await startHeldService(t, { maxInFlight: 1 });
      const connection = await RawConnection.open(t, service.port, createRequest(1));
      await service.committing;
      await assertHeld(service);
      leave(connection);
      service.release();
      await untilFree(service);
      assert.deepEqual(service.faults, []);
    });

    it(`is free if the client ${how} its connection while its list is being sent`, async (t) => {
      const service = await startWithLongList(t);
      for (const target of ['/plants', '/plants?limit=3000']) {
        const { connection } = await stall(t, service, target);
        await assertHeld(service);
        leave(connection);
        await untilFree(service);
      }
      assert.deepEqual(service.faults, []);
    });
  }

  for (const [how, text, status] of [
    ['the request times out while its body is incomplete', incomplete, 408],
    ['its body is not valid HTTP', `${chunkedPost}zz\r\n`, 400],
  ] as const) {
    it(`is free if ${how}`, async (t) => {
      const service = await startImpatientService(t, { maxInFlight: 1 });
      assert.equal(parseRawAnswer(await exchange(t, service.port, text)).status, status);
      await untilFree(service);
    });
  }

  it('is held while the response is not read, until the connection is closed', async (t) => {
    const service = await startWithLongList(t);
    service.server.timeout = 300;
    const { response } = await stall(t, service);
    await assertHeld(service);
    await untilFree(service);
    assert.ok(response.destroyed);
  });

  it('is free if a middleware has already begun the response', async (t) => {
    const { store, listener, faults } = createListener(t, { maxInFlight: 1 });
    await createPlants(store, 2500);
    // For example, because its time limit has passed.
    const server = createServer((request, response) => {
      if (request.headers['x-late'] !== undefined) response.writeHead(503);
      listener(request, response);
    });
    const url = `http://127.0.0.1:${await listen(t, server)}/plants`;
    const headers = { authorization: 'Bearer ada' };
    for (const target of [url, `${url}?limit=1`, `${url}?limit=2000`]) {
      await assert.rejects(fetch(target, { headers: { ...headers, 'x-late': 'yes' } }));
      const response = await fetch(url, { headers });
      assert.equal(response.status, 200);
      await response.text();
    }
    assert.equal(faults.length, 3);
  });
});
