import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { LongLists } from '../../src/http/long-lists.ts';
import { createRequestListener } from '../../src/http.ts';
import type { ServiceOptions } from '../../src/http.ts';
import { plantPageJson } from '../../src/store/plant-store.ts';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import { get, RawConnection } from '../support/raw-http.ts';
import { authenticateByName, startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const oneTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

/** Creates a store in which each user has 5000 plants. The name of a plant is its id. */
async function storeOf(...users: string[]): Promise<PlantStore> {
  const store = new PlantStore({ storage: new MemoryStorage() });
  for (const user of users) {
    await Promise.all(oneTo(5000).map((id) => store.createPlant(user, { id, name: `${id}` })));
  }
  return store;
}

/** Reads the first page, and prepares the list. */
async function prepare(
  store: PlantStore,
  lists: LongLists,
  limit: number,
  user = 'ada',
): Promise<Awaited<ReturnType<LongLists['prepare']>>> {
  const first = await plantPageJson(store, user, { limit });
  return lists.prepare({ user, limit, first, isClientGone: () => false });
}

async function namesIn(body: AsyncIterable<string>): Promise<number[]> {
  let json = '';
  for await (const piece of body) json += piece;
  return (JSON.parse(json) as { name: string }[]).map(({ name }) => Number(name));
}

/** Blocks the reads of a storage. */
interface Gate {
  close(): void;
  open(): void;
  /** Lets one blocked read continue. */
  step(): void;
}

/** Starts a service where ada has 5000 plants. `reads` has the `after` of each read of a page, and `gate` blocks them. */
async function startCounting(
  t: HasAfter,
  options: Partial<ServiceOptions> = {},
): Promise<{ service: Service; reads: (bigint | undefined)[]; gate: Gate }> {
  const storage = new MemoryStorage();
  // Without the page cache, so that every page is read.
  const store = new PlantStore({ storage, maxCachedText: 0 });
  await createPlants(store, 5000, 'Fern');
  const service = await startService(t, { store, ...options });
  const reads: (bigint | undefined)[] = [];
  const list = storage.list.bind(storage);
  let isOpen = true;
  const waiting: (() => void)[] = [];
  storage.list = async (user, range) => {
    if (range.limit < 1000) return list(user, range);
    reads.push(range.after);
    // The first page of a request is read with one more plant, to find out whether there is another page.
    if (!isOpen && range.limit === 1000) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
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

describe('LongLists', () => {
  for (const [limit, cutAfter] of [
    [1001, '1001'],
    [3000, '3000'],
    [4999, '4999'],
    [5000, ''],
    [5001, ''],
    [2_147_483_647, ''],
  ] as const) {
    it(`prepares a list with the limit ${limit}`, async () => {
      const store = await storeOf('ada');
      const list = await prepare(store, new LongLists(store), limit);
      assert.equal(list.cutAfter, cutAfter);
      assert.deepEqual(await namesIn(list.body), oneTo(Math.min(limit, 5000)));
    });
  }

  it('sends neither plants that were created nor plants that were deleted after it was prepared', async () => {
    const store = await storeOf('ada');
    await store.deletePlant('ada', 1500);
    const { cutAfter, body } = await prepare(store, new LongLists(store), 2000);
    assert.equal(cutAfter, '2001');
    await store.createPlant('ada', { id: 1500, name: '1500' });
    for (const id of [1400, 2001]) await store.deletePlant('ada', id);
    const expected = oneTo(2000).filter((id) => id !== 1400 && id !== 1500);
    assert.deepEqual(await namesIn(body), expected);
  });

  it('rejects a list with saturated while other lists of the user hold a quarter of the ids', async () => {
    const store = await storeOf('ada');
    const lists = new LongLists(store, 3000);
    const held = await prepare(store, lists, 2000);
    await assert.rejects(prepare(store, lists, 1001), { code: 'saturated' });
    await held.body.return();
    await prepare(store, lists, 2000);
  });

  it('accepts any list of a user that holds no ids', async () => {
    const store = await storeOf('ada');
    const lists = new LongLists(store, 1000);
    for (let n = 0; n < 3; n++) await namesIn((await prepare(store, lists, 4999)).body);
  });

  it('rejects the lists of all users that hold an eighth of the ids when no ids are left', async () => {
    const store = await storeOf('ada', 'bob', 'eve');
    const lists = new LongLists(store, 8000);
    for (const user of ['ada', 'bob']) await prepare(store, lists, 4999, user);
    await prepare(store, lists, 2000, 'eve');
    await assert.rejects(prepare(store, lists, 3000, 'bob'), { code: 'saturated' });
  });

  it('releases the ids of a list that could not be prepared', async () => {
    const store = await storeOf('ada');
    const lists = new LongLists(store, 3000);
    const first = await plantPageJson(store, 'ada', { limit: 3000 });
    let checks = 0;
    const request = { user: 'ada', limit: 3000, first, isClientGone: () => ++checks > 2 };
    await assert.rejects(lists.prepare(request), { code: 'malformed_request' });
    await prepare(store, lists, 1700);
    await prepare(store, lists, 1001);
  });
});

describe('lists with a limit over one page', () => {
  it('are read up to the first page for HEAD', async (t) => {
    const { service, reads } = await startCounting(t);
    const answered = await service.call('HEAD', '/plants?limit=4000');
    assert.deepEqual([answered.status, answered.headers.get('link')], [200, null]);
    assert.equal(reads.length, 1);
  });

  it('are prepared one at a time for each user, and are refused if 100 wait', async (t) => {
    const { service, reads, gate } = await startCounting(t);
    await service.store.createPlant('bob', { id: 1, name: 'Fern' });
    const statusOf = (token: string, limit: number): Promise<number> =>
      service.call('GET', `/plants?limit=${limit}`, { token }).then(({ status }) => status);
    gate.close();
    const first = statusOf('ada', 2000);
    await eventually(() => {
      assert.equal(reads.length, 2);
    });
    const waiting = Array.from({ length: 100 }, () => statusOf('ada', 2000));
    await eventually(async () => {
      assert.equal(await statusOf('ada', 2000), 503);
    });
    assert.equal(reads.filter((after) => after !== undefined).length, 1, 'waiting lists read only their first page');
    assert.equal(await statusOf('bob', 2000), 200, 'lists of other users do not wait');
    gate.open();
    assert.deepEqual(new Set(await Promise.all([first, ...waiting])), new Set([200]));
  });

  it('are not counted as in flight while they are prepared', async (t) => {
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
      connection.send(get('/plants?limit=5000'));
      await eventually(() => {
        assert.equal(reads.length, 2);
      });
      leave(connection);
      // The server notices it after a few iterations of the event loop.
      await service.call('GET', '/plants?limit=1');
      gate.step();
      await eventually(async () => {
        assert.equal((await service.call('GET', '/plants?limit=1')).status, 200);
      });
      gate.open();
      await eventually(async () => {
        assert.equal((await service.call('GET', '/plants?limit=1001')).status, 200);
      });
      // The first page, at most three more of the abandoned list, and two of the last request.
      assert.ok(reads.length <= 6, `${reads.length} reads`);
    });
  }

  it('are sent to a client that has ended its side of the connection and still reads', async (t) => {
    const { service } = await startCounting(t);
    const connection = await RawConnection.open(t, service.port);
    connection.socket.allowHalfOpen = true;
    connection.socket.end(get('/plants?limit=4000'));
    const received = await connection.untilClosed();
    const final = received.replace(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)+/, '');
    assert.match(final, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(final, /\r\nLink: <\/plants\?limit=4000&after=3999>; rel="next"\r\n/);
    assert.match(final, /\]\r\n0\r\n\r\n$/);
  });

  it('release their ids if the response cannot be sent', async (t) => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    await createPlants(store, 10_000, 'Fern');
    const listener = createRequestListener(store, { authenticate: authenticateByName, onError: () => undefined });
    const hasAnswered = (request: IncomingMessage): boolean => request.headers['x-answered'] !== undefined;
    // As a middleware does that has answered the request itself, because it took too long.
    const server = createServer((request, response) => {
      if (hasAnswered(request)) response.writeHead(503);
      listener(request, response);
    });
    const url = `http://127.0.0.1:${await listen(t, server)}/plants?limit=9999`;
    const authorization = 'Bearer ada';
    // Together they would hold more than a quarter of the ids that all lists may hold.
    for (let n = 0; n < 240; n++) {
      await assert.rejects(fetch(url, { headers: { authorization, 'x-answered': 'yes' } }));
    }
    const response = await fetch(url, { headers: { authorization } });
    assert.equal(response.status, 200);
    await response.body?.cancel();
  });
});
