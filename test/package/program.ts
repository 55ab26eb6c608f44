// A program that uses every exported value. Other tests replace the paths with `plant-store`, add a use of every
// exported type, and then compile, bundle and run the program.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { copyPlants, errorTable, MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { ErrorCode, StorageAdapter } from '../../src/index.ts';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer, createRequestListener, drainServer, openApiDocument } from '../../src/http.ts';
import { PostgresStorage } from '../../src/postgres.ts';
import { SqliteStorage } from '../../src/sqlite.ts';
import { testService, testStorageAdapter } from '../../src/testing.ts';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';

async function codeOf(work: Promise<unknown>): Promise<ErrorCode | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error instanceof PlantStoreError ? error.code : undefined;
  }
}

async function embed(storage: StorageAdapter): Promise<string> {
  const store = new PlantStore({ storage });
  const fern = { id: 9007199254740993n, name: 'Fern', tag: 'indoor' };
  await store.createPlant('ada', fern);
  const code = await codeOf(store.createPlant('ada', fern));
  const copied = await copyPlants(storage, new MemoryStorage());
  const plants = await store.listPlants('ada', { limit: 1 });
  const page = await store.listPageJson('ada', { limit: 1 });
  await store.close();
  const status = code === undefined ? 0 : errorTable[code].status;
  return `${String(plants[0]?.id)} ${code ?? ''} ${status} ${copied.added} ${page.json}`;
}

/** Creates and lists a plant, over HTTP. */
async function call(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/plants`;
  const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
  await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Moss"}' });
  return (await fetch(url, { headers })).text();
}

async function serve(): Promise<string> {
  const store = new PlantStore({ storage: new MemoryStorage() });
  const options = { authenticate: (token: string) => ({ user: token }) };
  const mounted = createServer(createRequestListener(store, options));
  const server = createPlantServer(store, options);
  const lists = [await call(server), await call(mounted)];
  const handler = createFetchHandler(store, options);
  const response = await handler(new Request('http://localhost/plants', { headers: { authorization: 'Bearer ada' } }));
  lists.push(await response.text());
  await drainServer(server, { graceMs: 1000 });
  mounted.close();
  mounted.closeAllConnections();
  await store.close();
  return lists.join(' ');
}

async function queryPostgres(): Promise<string> {
  const pool = { query: () => Promise.reject(new Error('This program has no database')) };
  const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
  return (await codeOf(store.listPlants('ada'))) ?? '';
}

function openMissingTokenFile(): string {
  try {
    createTokenFileAuthenticator('missing.json');
    return 'opened';
  } catch {
    return 'no tokens file';
  }
}

async function main(): Promise<void> {
  console.log('embedded:', await embed(new SqliteStorage('plants.db', { busyTimeoutMs: 1000, commitThread: false })));
  console.log('served:', await serve());
  console.log('suites:', typeof testService, typeof testStorageAdapter);
  console.log('PostgreSQL:', await queryPostgres());
  console.log('tokens:', openMissingTokenFile());
  console.log('document:', openApiDocument()['openapi']);
}

void main();
