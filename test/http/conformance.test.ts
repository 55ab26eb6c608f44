import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { MemoryStorage } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { PostgresStorage } from '../../src/postgres.ts';
import { SqliteStorage } from '../../src/sqlite.ts';
import { testService } from '../../src/testing.ts';
import { assertDescribed } from '../support/described.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { createFetchService, startService } from '../support/service.ts';
import type { AnyService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

const storages: Record<string, (t: HasAfter) => Promise<StorageAdapter> | StorageAdapter> = {
  memory: () => new MemoryStorage(),
  SQLite: async (t) => new SqliteStorage(join(await temporaryFolder(t), 'plants.db')),
  PostgreSQL: (t) => new PostgresStorage({ pool: cluster.pool(t), table: cluster.newTable() }),
};
const fronts: Record<string, (t: HasAfter, storage: StorageAdapter) => Promise<AnyService>> = {
  'node:http': (t, storage) => startService(t, { storage }),
  fetch: async (t, storage) => createFetchService(t, { storage }),
};

for (const [storageName, open] of Object.entries(storages)) {
  for (const [front, start] of Object.entries(fronts)) {
    let service: AnyService;
    testService(`${front} over ${storageName}`, {
      tokens: { a: 'ada', b: 'bob', readOnly: 'ada-reads' },
      url: async (t) => {
        service = await start(t, await open(t));
        t.after(async () => {
          assert.deepEqual(await service.store.listPlants('ada'), []);
          assert.deepEqual(await service.store.listPlants('bob'), []);
          assert.deepEqual(service.faults, []);
        });
        return service.url;
      },
      ...(front === 'fetch' && {
        fetch: async (request) => {
          const response = await service.send(request);
          const { method, url } = request;
          const { status, headers } = response;
          assertDescribed(method, url.slice(service.url.length), {
            status,
            headers,
            text: await response.clone().text(),
          });
          return response;
        },
      }),
    });
  }
}
