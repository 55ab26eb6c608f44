import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CheckClient } from '../../../src/kits/conformance/check-client.ts';
import { checkConcurrent } from '../../../src/kits/conformance/concurrent/check-concurrent.ts';
import { sendByFetch } from '../../../src/kits/conformance/send-by-fetch.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

async function terminateBackends(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(80);
    await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%'");
  }
}

describe('two services over one PostgreSQL database', () => {
  it('are linearizable while the backends are terminated every 80 ms', async (t) => {
    const connectionString = await cluster.makeDatabase();
    const services = await Promise.all(
      [1, 2].map(() =>
        startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) }) }),
      ),
    );
    const senders = services.map(({ url }) => sendByFetch(url));
    let requests = 0;
    let failures = 0;
    const client = new CheckClient({
      baseUrl: services[0]?.url ?? '',
      tokens: { a: 'ada', b: 'bob' },
      send: async (request) => {
        const send = senders[requests++ % senders.length] ?? assert.fail();
        const response = await send(request);
        if (response.status === 503) failures++;
        return response;
      },
    });
    const checked = checkConcurrent(client, { clients: 8, operations: 1000 });
    const killer = new AbortController();
    const killed = terminateBackends(killer.signal);
    const result = await checked;
    killer.abort();
    await killed;
    assert.equal(result.outcome, 'passed', JSON.stringify(result));
    assert.ok(failures > 0, 'No request failed.');
    t.diagnostic(`${requests} requests, ${failures} × 503`);
  });
});
