import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after } from 'node:test';
import express from 'express';
import { PostgresStorage } from '../../src/postgres.ts';
import { SqliteStorage } from '../../src/sqlite.ts';
import { assertDescribed } from '../support/described.ts';
import { listenUrl } from '../support/listen.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { createFetchService, createListener, startService } from '../support/service.ts';
import type { AnyService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import type { Server } from './client.ts';
import { deliverTo } from './exchange.ts';
import { testServer } from './register.ts';

const cluster = await PostgresCluster.start();
after(() => cluster.remove());

type Started = Pick<Server, 'url' | 'deliver'> & Pick<AnyService, 'store' | 'faults'>;

/** Each front and each storage once, because fronts do not know where plants are stored. */
const services: Record<string, (t: HasAfter) => Started | Promise<Started>> = {
  'fetch over memory': (t) => {
    const service = createFetchService(t);
    const deliver = deliverTo(service.url, service.send);
    return {
      ...service,
      deliver: async (request) => {
        const exchange = await deliver(request);
        assertDescribed(request.method, request.target, exchange);
        return exchange;
      },
    };
  },
  'node:http over SQLite': async (t) =>
    startService(t, { storage: new SqliteStorage(join(await temporaryFolder(t), 'plants.db')) }),
  'Express over PostgreSQL': async (t) => {
    const storage = new PostgresStorage({ pool: cluster.pool(t), table: cluster.newTable() });
    const { listener, ...parts } = createListener(t, { storage });
    // Without `next`, the listener itself responds to unknown paths.
    const app = express().use('/garden', (request, response) => {
      void listener(request, response);
    });
    return { ...parts, url: `${await listenUrl(t, createServer(app))}/garden` };
  },
};

for (const [name, start] of Object.entries(services)) {
  testServer(name, async (t) => {
    const { store, faults, ...server } = await start(t);
    t.after(async () => {
      assert.deepEqual([await store.listPlants('ada'), await store.listPlants('bob'), faults], [[], [], []]);
    });
    return { ...server, tokens: { a: 'ada', b: 'bob', readOnly: 'ada-reads' } };
  });
}
