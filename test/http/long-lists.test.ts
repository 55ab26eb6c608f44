import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { createRequestListener } from '../../src/http.ts';
import type { ServiceOptions } from '../../src/http.ts';
import { eventually } from '../helpers/eventually.ts';
import { RawConnection } from '../helpers/raw-http.ts';
import { startService } from '../helpers/service.ts';
import type { Service } from '../helpers/service.ts';
import type { HasAfter } from '../helpers/temporary-folder.ts';

/** A service where ada has 5000 plants of 5000 characters, and lists may hold 3000 ids. */
async function start(t: HasAfter): Promise<Service> {
  const service = await startService(t, { maxHeldIds: 3000 });
  const name = 'x'.repeat(5000);
  await Promise.all(Array.from({ length: 5000 }, (_, id) => service.store.createPlant('ada', { id, name })));
  return service;
}

/** A client that asks for a list and does not read it. */
async function askAndStall(t: HasAfter, { port }: Service, limit: number): Promise<RawConnection> {
  const connection = await RawConnection.open(t, port);
  connection.send(`GET /plants?limit=${limit} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\n\r\n`);
  await connection.until(/^HTTP\/1\.1 200 /);
  connection.socket.pause();
  return connection;
}

/** Holds the reads of a storage up. */
interface Gate {
  close(): void;
  open(): void;
  /** Lets one read through. */
  step(): void;
}

/** A service where ada has 5000 plants, what `list` was asked for (`after`), and a gate before each read of 1000. */
async function startCounting(
  t: HasAfter,
  options: Partial<ServiceOptions> = {},
): Promise<{ service: Service; reads: (bigint | undefined)[]; gate: Gate }> {
  const storage = new MemoryStorage();
  // Without kept pages, so that every page is read.
  const store = new PlantStore({ storage, maxCachedText: 0 });
  await Promise.all(Array.from({ length: 5000 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' })));
  const service = await startService(t, { store, ...options });
  const reads: (bigint | undefined)[] = [];
  const list = storage.list.bind(storage);
  let isOpen = true;
  const waiting: (() => void)[] = [];
  storage.list = async (user, range) => {
    if (range.limit < 1000) return list(user, range);
    reads.push(range.after);
    // The first page of a request has one plant more, to see whether there is another page.
    if (!isOpen && range.limit === 1000)
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    return list(user, range);
  };
  const gate = {
    close: () => {
      isOpen = false;
    },
    step: () => {
      waiting.shift()?.();
    },
    open: () => {
      isOpen = true;
      for (const resume of waiting.splice(0)) resume();
    },
  };
  return { service, reads, gate };
}

const statusOf = async (service: Service, limit: number): Promise<number> =>
  (await service.call('GET', `/plants?limit=${limit}`)).status;

describe('Lists with a limit over one page', () => {
  it('hold so many ids together, and are refused past that until others have gone', async (t) => {
    const service = await start(t);
    const stalled = await askAndStall(t, service, 2000);
    assert.equal(await statusOf(service, 1001), 503);
    assert.equal(await statusOf(service, 10), 200, 'a list of one page holds none');
    stalled.socket.destroy();
    await eventually(async () => {
      assert.equal(await statusOf(service, 2000), 200);
    });
  });

  it('are not refused to a client that is alone', async (t) => {
    const service = await start(t);
    for (let n = 0; n < 3; n++) assert.equal(await statusOf(service, 4999), 200);
  });

  it('hold no ids when they are sent', async (t) => {
    const service = await start(t);
    for (let n = 0; n < 3; n++) assert.equal(await statusOf(service, 2999), 200);
    await askAndStall(t, service, 2000);
    assert.equal(await statusOf(service, 1001), 503);
  });

  it('hold no ids for a client that left before its list could be sent', async (t) => {
    const storage = new MemoryStorage();
    const store = new PlantStore({ storage });
    const service = await startService(t, { store, maxHeldIds: 3000 });
    await Promise.all(Array.from({ length: 5000 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' })));
    const list = storage.list.bind(storage);
    const [entered, mayGoOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    storage.list = async (user, range) => {
      // The last read before the answer: whether the list goes on.
      if (range.limit === 1) {
        entered.resolve(undefined);
        await mayGoOn.promise;
      }
      return list(user, range);
    };
    const connection = await RawConnection.open(t, service.port);
    connection.send('GET /plants?limit=2500 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\n\r\n');
    await entered.promise;
    connection.socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    mayGoOn.resolve(undefined);
    await eventually(async () => {
      assert.equal(await statusOf(service, 2500), 200);
    });
  });

  it('take no more than a quarter of the ids from other users', async (t) => {
    const service = await startService(t, { maxHeldIds: 6000 });
    const plants = Array.from({ length: 5000 }, (_, id) => ({ id, name: 'x'.repeat(5000) }));
    for (const user of ['ada', 'bob', 'eve'])
      await Promise.all(plants.map((plant) => service.store.createPlant(user, plant)));
    await askAndStall(t, service, 4000);
    assert.equal(await statusOf(service, 1001), 503, 'the second list of a user who holds more than a quarter');
    for (const token of ['bob', 'eve', 'bob']) {
      assert.equal((await service.call('GET', '/plants?limit=4500', { token })).status, 200, token);
    }
  });

  it('are read for HEAD as far as the first page', async (t) => {
    const { service, reads } = await startCounting(t);
    const answered = await service.call('HEAD', '/plants?limit=4000');
    assert.deepEqual([answered.status, answered.headers.get('link')], [200, null]);
    assert.equal(reads.length, 1);
  });

  it('are prepared one at a time for each user, and past 100 that wait are refused', async (t) => {
    const { service, reads, gate } = await startCounting(t);
    await service.store.createPlant('bob', { id: 1, name: 'Fern' });
    const get = (token: string, limit: number): Promise<number> =>
      service.call('GET', `/plants?limit=${limit}`, { token }).then(({ status }) => status);
    gate.close();
    const first = get('ada', 2000);
    await eventually(() => {
      assert.equal(reads.length, 2);
    });
    const waiting = Array.from({ length: 100 }, () => get('ada', 2000));
    await eventually(async () => {
      assert.equal(await get('ada', 2000), 503);
    });
    assert.equal(
      reads.filter((after) => after !== undefined).length,
      0,
      'of those that wait nothing but the first page is read',
    );
    assert.equal(await get('bob', 2000), 200, 'lists of others do not wait');
    gate.open();
    assert.deepEqual(new Set(await Promise.all([first, ...waiting])), new Set([200]));
  });

  it('do not count as in flight while they are prepared', async (t) => {
    const { service, reads, gate } = await startCounting(t, { maxInFlight: 1 });
    gate.close();
    const list = service.call('GET', '/plants?limit=2000');
    await eventually(() => {
      assert.equal(reads.length, 2);
    });
    assert.equal((await service.call('POST', '/plants', { token: 'bob', body: '{"id":1,"name":"Fern"}' })).status, 200);
    gate.open();
    assert.equal((await list).status, 200);
  });

  for (const [how, leave] of [
    ['ended its connection', (connection: RawConnection) => connection.socket.destroy()],
    ['reset its connection', (connection: RawConnection) => connection.socket.resetAndDestroy()],
  ] as const) {
    it(`are not prepared further for a client that ${how}`, async (t) => {
      const { service, reads, gate } = await startCounting(t);
      const connection = await RawConnection.open(t, service.port);
      gate.close();
      connection.send('GET /plants?limit=5000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\n\r\n');
      await eventually(() => {
        assert.equal(reads.length, 2);
      });
      leave(connection);
      // The server learns of it from the kernel, in a few iterations of the event loop.
      await service.call('GET', '/plants?limit=1');
      gate.step();
      await eventually(async () => {
        assert.equal((await service.call('GET', '/plants?limit=1')).status, 200);
      });
      gate.open();
      await eventually(async () => {
        assert.equal((await service.call('GET', '/plants?limit=1001')).status, 200);
      });
      // First page, two reads of the list that was given up at the latest, and four of the last request.
      assert.ok(reads.length <= 8, `${reads.length} reads`);
    });
  }

  it('are sent to a client that has ended its side of the connection and still reads', async (t) => {
    const { service } = await startCounting(t);
    const connection = await RawConnection.open(t, service.port);
    connection.socket.allowHalfOpen = true;
    connection.socket.end('GET /plants?limit=4000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\n\r\n');
    const received = await connection.untilClosed();
    const final = received.replace(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)+/, '');
    assert.match(final, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(final, /\r\nLink: <\/plants\?limit=4000&after=3999>; rel="next"\r\n/);
    assert.match(final, /\]\r\n0\r\n\r\n$/);
  });

  it('have a bound that must be 1 or more', () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    assert.throws(() => createRequestListener(store, { authenticate: () => null, maxHeldIds: 0 }), {
      name: 'TypeError',
      message: /maxHeldIds/,
    });
  });
});
