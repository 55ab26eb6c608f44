import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { createRequestListener } from '../../src/http/index.ts';
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

const statusOf = async (service: Service, limit: number): Promise<number> => (await service.call('GET', `/plants?limit=${limit}`)).status;

describe('Lists with a limit over one page', () => {
  it('hold so many ids together, and are refused past that until others have gone', async (t) => {
    const service = await start(t);
    const stalled = await askAndStall(t, service, 2000);
    assert.equal(await statusOf(service, 1001), 503);
    assert.equal(await statusOf(service, 1000), 200, 'this one holds none');
    stalled.socket.destroy();
    await eventually(async () => { assert.equal(await statusOf(service, 2000), 200); });
  });

  it('are not refused to a client that is alone', async (t) => {
    const service = await start(t);
    for (let n = 0; n < 3; n++) assert.equal(await statusOf(service, 4999), 200);
  });

  it('hold no ids when they are sent, or where nothing but the header is', async (t) => {
    const service = await start(t);
    for (let n = 0; n < 3; n++) assert.equal((await service.call('HEAD', '/plants?limit=2999')).status, 200);
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
    await eventually(async () => { assert.equal(await statusOf(service, 2500), 200); });
  });

  it('have a bound that must be 1 or more', () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    assert.throws(() => createRequestListener(store, { authenticate: () => null, maxHeldIds: 0 }), { name: 'TypeError', message: /maxHeldIds/ });
  });
});
