import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { ServiceOptions } from '../../../src/http.ts';
import { MemoryStorage } from '../../../src/index.ts';
import { eventually, eventuallyEqual } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';
import { begin, exchange, get, listRequest, parseRawAnswer, RawConnection } from '../../support/raw-http.ts';
import { evalArgs } from '../../support/run-program.ts';
import { untilListening } from '../../support/server-process.ts';
import { sourceUrl } from '../../support/sources.ts';
import { createListener, startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/** Starts a service with 40 MB of plants, which socket buffers cannot hold. `beforeRead` is called before each read. */
async function startWithLongList(
  t: HasAfter,
  beforeRead: (read: number) => Promise<unknown> | undefined = () => undefined,
  options: Partial<ServiceOptions> = {},
): Promise<{ service: Service; reads: { count: number } }> {
  const storage = new MemoryStorage();
  const service = await startService(t, { storage, ...options });
  await createPlants(service.store, 20_000, 'x'.repeat(2000));
  const list = storage.list.bind(storage);
  const reads = { count: 0 };
  storage.list = async (user, range) => {
    await beforeRead(++reads.count);
    return list(user, range);
  };
  return { service, reads };
}

describe('a long list', () => {
  it('waits for a client that does not read, and stops when the client disconnects', async (t) => {
    const { service, reads } = await startWithLongList(t);
    const { connection, response } = await begin(t, service, listRequest, { isPaused: true });
    for (let seen = -1; reads.count === 0 || seen !== reads.count;) {
      seen = reads.count;
      await sleep(50);
    }
    assert.ok(reads.count < 20, `${reads.count} pages were read for a client that does not read`);
    assert.equal(response.listenerCount('drain'), 1);
    const before = reads.count;
    connection.socket.destroy();
    await eventuallyEqual(() => response.listenerCount('drain'), 0);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.deepEqual([reads.count, service.faults], [before, []]);
  });

  it('is read only once for HEAD, and no further if the client disconnects during a read', async (t) => {
    const [third, resumed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const { service, reads } = await startWithLongList(t, (read) => {
      if (read !== 3) return undefined;
      third.resolve(undefined);
      return resumed.promise;
    });
    assert.equal((await service.call('HEAD', '/plants')).status, 200);
    assert.equal(reads.count, 1);
    reads.count = 0;
    const { connection, response } = await begin(t, service, listRequest.replace('/plants', '/plants?after=0'));
    await third.promise;
    const gone = once(response, 'close');
    connection.socket.resetAndDestroy();
    await gone;
    resumed.resolve(undefined);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.deepEqual([reads.count, response.listenerCount('drain')], [3, 0]);
  });
});

describe('the permit of a request', () => {
  it("is held while the response is not read, until the server's timeout closes the connection", async (t) => {
    const { service } = await startWithLongList(t, undefined, { maxInFlight: 1 });
    const { response } = await begin(t, service, listRequest, { isPaused: true });
    await eventuallyEqual(() => response.headersSent, true);
    // This shortens the server's timeout.
    response.socket?.setTimeout(300);
    const status = async (): Promise<number> => (await service.call('GET', '/plants?limit=0', { token: 'bob' })).status;
    assert.equal(await status(), 503);
    await eventuallyEqual(status, 200);
    assert.deepEqual([response.destroyed, response.writableFinished, service.faults], [true, false, []]);
  });
});

describe('a response that a middleware has already begun', () => {
  it('closes the connection, causes a reported error, and releases the permit', async (t) => {
    const { store, listener, faults } = createListener(t, { maxInFlight: 1 });
    await createPlants(store, 2500);
    // For example, a middleware does this when its time limit has passed.
    const server = createServer((request, response) => {
      if (request.headers['x-late'] !== undefined) response.writeHead(503);
      listener(request, response);
    });
    const port = await listen(t, server);
    const late = 'X-Late: yes\r\n';
    for (const text of [get('/plants', late), get('/plants?limit=1', late)]) {
      await exchange(t, port, text);
      assert.match(faults.splice(0).map(String).join(), /^Error[^,]*ERR_HTTP_HEADERS_SENT[^,]*$/);
      const { status } = parseRawAnswer(await exchange(t, port, get('/plants?limit=0', 'Connection: close\r\n')));
      assert.equal(status, 200);
    }
  });
});

describe('the memory of a response', () => {
  const server = `
    import { PlantStore, MemoryStorage } from '${sourceUrl('index.ts')}';
    import { createPlantServer } from '${sourceUrl('http.ts')}';
    const store = new PlantStore({ storage: new MemoryStorage(), maxCacheBytes: 0 });
    // One character above U+00FF makes each character of a string two bytes long.
    const plants = Number(process.env.PLANTS);
    for (let id = 0; id < plants; id++) {
      await store.createPlant('ada', { id, name: 'x'.repeat(50_000) + '\\u0100' });
    }
    const server = createPlantServer(store, { authenticate: () => ({ user: 'ada' }) });
    server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
    gc();
    const before = process.memoryUsage();
    process.stdin.on('data', () => {
      gc();
      const { heapUsed, external } = process.memoryUsage();
      console.log('grown by ' + (heapUsed - before.heapUsed) + ' and ' + (external - before.external));
    });`;

  async function grownBytes(
    t: HasAfter,
    plants: number,
    connect: (port: number) => Promise<unknown>,
  ): Promise<number[]> {
    const child = spawn(process.execPath, ['--expose-gc', ...evalArgs(server)], {
      env: { ...process.env, PLANTS: `${plants}` },
    });
    const started = await untilListening(t, child, /port (\d+)/);
    await connect(started.port);
    child.stdin.write('measure');
    await eventually(() => {
      assert.match(started.stdout(), /grown by .* and .*\n/, started.stderr());
    }, 30_000);
    const [, heap, external] = /grown by (-?\d+) and (-?\d+)/.exec(started.stdout()) ?? [];
    return [Number(heap), Number(external)];
  }

  it('is freed when the client has read the response, even if its connection stays open', async (t) => {
    const connections = 60;
    const [heap = NaN, external = NaN] = await grownBytes(t, 5, async (port) => {
      for (let n = 0; n < connections; n++) {
        const { socket } = await RawConnection.open(t, port, listRequest);
        while (socket.bytesRead < 250_000) await once(socket, 'data');
      }
    });
    // A page takes 500 KB.
    assert.ok(heap + external < connections * 60_000, `${heap} and ${external} bytes`);
  });

  it('is outside the heap while the client does not read', async (t) => {
    const connections = 60;
    // The list takes 10 MB, which the socket buffers cannot hold.
    const [heap = NaN] = await grownBytes(t, 200, async (port) => {
      for (let n = 0; n < connections; n++) {
        const { socket } = await RawConnection.open(t, port);
        socket.pause();
        socket.write(listRequest);
      }
      await sleep(2000);
    });
    assert.ok(heap < connections * 60_000, `${heap} bytes`);
  });
});
