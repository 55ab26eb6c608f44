import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStorage, PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { createPlantServer, drainServer } from 'plant-store/http';
import { SqliteStorage } from 'plant-store/sqlite';

const folder = mkdtempSync(join(tmpdir(), 'fake-timers-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

const storages = {
  MemoryStorage: () => new MemoryStorage(),
  SqliteStorage: () => new SqliteStorage(join(folder, 'plants.db')),
  'SqliteStorage with commitThread': () => new SqliteStorage(join(folder, 'thread.db'), { commitThread: true }),
};

// Vitest and Jest define the same global functions. Only Vitest defines `vi`.
const { it, vi } = globalThis;
const runner = vi ?? import.meta.jest;

for (const [name, createStorage] of Object.entries(storages)) {
  it(name, async () => {
    runner.useFakeTimers();
    await settle(createStorage());
  });
}

/** Calls a store, a fetch handler and a server. All calls must settle, even if the timers of the process are fake. */
async function settle(storage) {
  const store = new PlantStore({ storage });
  const options = { authenticate: (token) => ({ user: token }) };
  const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
  const handle = createFetchHandler(store, options);
  const server = createPlantServer(store, options).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();

  await Promise.all(Array.from({ length: 1500 }, (_, id) => store.createPlant('ada', { id, name: 'Fern' })));
  assert.equal(await store.deletePlant('ada', 0), true);
  assert.equal((await store.listPlants('ada')).length, 1499);
  for (const send of [handle, fetch]) {
    const call = async (method, path, body) =>
      (await send(new Request(`http://127.0.0.1:${port}${path}`, { method, headers, body }))).text();
    assert.equal(await call('POST', '/plants', '{"id":0,"name":"Moss"}'), '{"name":"Moss"}');
    assert.equal(await call('DELETE', '/plants/0'), '');
    assert.equal(JSON.parse(await call('GET', '/plants')).length, 1499);
  }
  await drainServer(server, { graceMs: 100 });
  await store.close();
}
