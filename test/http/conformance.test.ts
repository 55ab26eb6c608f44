import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { PostgresStorage } from '../../src/postgres.ts';
import { SqliteStorage } from '../../src/sqlite.ts';
import { testService } from '../../src/testing.ts';
import { assertDescribed } from '../support/described.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { createFetchService, startService } from '../support/service.ts';
import type { AnyService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const cluster = await PostgresCluster.start();
after(() => cluster.remove());

/**
 * Each front and each storage is tested once. Fronts do not know where plants are stored. `plant-store check` tests
 * node:http over memory: see test/cli/commands/check.test.ts.
 */
const services: Record<string, (t: HasAfter) => Promise<AnyService>> = {
  'fetch over memory': async (t) => {
    const { send, ...service } = createFetchService(t);
    return { ...service, send: (request) => sendDescribed(service.url, request, send) };
  },
  'node:http over SQLite': async (t) =>
    startService(t, { storage: new SqliteStorage(join(await temporaryFolder(t), 'plants.db')) }),
  'node:http over PostgreSQL': (t) =>
    startService(t, { storage: new PostgresStorage({ pool: cluster.pool(t), table: cluster.newTable() }) }),
};

/** Sends a request, and asserts that the OpenAPI document describes the response. */
async function sendDescribed(baseUrl: string, request: Request, send: AnyService['send']): Promise<Response> {
  const response = await send(request);
  const { status, headers } = response;
  const text = await response.clone().text();
  assertDescribed(request.method, request.url.slice(baseUrl.length), { status, headers, text });
  return response;
}

for (const [name, start] of Object.entries(services)) {
  let service: AnyService;
  testService(name, {
    tokens: { a: 'ada', b: 'bob', readOnly: 'ada-reads' },
    url: async (t) => {
      service = await start(t);
      t.after(async () => {
        assert.deepEqual(await service.store.listPlants('ada'), []);
        assert.deepEqual(await service.store.listPlants('bob'), []);
        assert.deepEqual(service.faults, []);
      });
      return service.url;
    },
    fetch: (request) => service.send(request),
  });
}
