import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { concurrencyChecks } from '../../../src/testing/service/checks/concurrency.ts';
import { Client } from '../../../src/testing/service/client.ts';
import { callCommand } from '../../support/call-command.ts';
import { eventually } from '../../support/eventually.ts';
import { startPlantLoad } from '../../support/plant-load.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { sendToOne, startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { scanAll } from '../../support/stored-plants.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { everything } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** Starts two services over one database. */
function startServices(t: TestContext, connectionString: string): Promise<Service[]> {
  const start = (): Promise<Service> =>
    startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) }) });
  return Promise.all([start(), start()]);
}

describe('two services over one PostgreSQL database', () => {
  for (const [how, end] of [
    ['restarted', () => cluster.stop()],
    ['killed and restarted', () => cluster.kill()],
  ] as const) {
    it(`lose no acknowledged write when the database server is ${how} under load`, async (t) => {
      const load = startPlantLoad(t, await startServices(t, await cluster.makeDatabase()));
      await load.acknowledgeMore(200);
      await end();
      await cluster.restart();
      await load.acknowledgeMore(200);
      await load.assertNothingLost();
    });
  }

  it('lose no acknowledged write when the primary is killed and its synchronous standby is promoted', async (t) => {
    const primary = await PostgresCluster.start();
    t.after(() => primary.remove());
    const standby = await primary.startSynchronousStandby();
    t.after(() => standby.remove());
    const proxy = await startTcpProxy(t, primary.port);
    const load = startPlantLoad(t, await startServices(t, primary.url().replace(`:${primary.port}`, `:${proxy.port}`)));
    await load.acknowledgeMore(500);
    await primary.kill();
    await eventually(() => {
      assert.ok((load.clients.statuses.get(503) ?? 0) > 0, 'No request failed while the primary was down.');
    });
    await standby.promote();
    proxy.pointTo(standby.port);
    await load.acknowledgeMore(500);
    await load.assertNothingLost();
  });

  it('are linearizable while all PostgreSQL backends are terminated every 80 ms', async (t) => {
    const services = await startServices(t, await cluster.makeDatabase());
    let requests = 0;
    let failures = 0;
    const client = new Client({
      tokens: { a: 'ada', b: 'bob' },
      fetch: async (request) => {
        const response = await sendToOne(services, request);
        requests++;
        if (response.status === 503) failures++;
        return response;
      },
    });
    client.baseUrl = services[0]?.url ?? '';
    let isOver = false;
    const checks = Object.values(concurrencyChecks).map((check) => check(client, client.newPlant()));
    const checked = Promise.all(checks).finally(() => (isOver = true));
    while (!(isOver as boolean)) {
      await sleep(80);
      await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%'");
    }
    await checked;
    assert.ok(failures > 0, 'No request failed.');
    t.diagnostic(`${requests} requests, ${failures} × 503`);
  });
});

describe('service over PostgreSQL', () => {
  it('responds with 503 to list requests if the database is a standby, because its plants can be outdated', async (t) => {
    const primary = await PostgresCluster.start();
    t.after(() => primary.remove());
    const standby = await primary.startSynchronousStandby();
    t.after(() => standby.remove());
    const [first, second] = await Promise.all(
      [primary, standby].map(async (each) => {
        const storage = new PostgresStorage({ pool: each.pool(t), createTable: each === primary });
        return { storage, service: await startService(t, { storage }) };
      }),
    );
    assert.equal((await first?.service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' }))?.status, 200);
    await eventually(async () => {
      assert.equal((await standby.query('SELECT FROM plants')).length, 1);
    });
    await standby.query('SELECT pg_wal_replay_pause()');
    assert.equal((await first?.service.call('POST', '/plants', { body: '{"id":2,"name":"Moss"}' }))?.status, 200);
    for (const target of ['/plants', '/plants?limit=5', '/plants?after=2']) {
      assert.equal((await second?.service.call('GET', target))?.status, 503);
    }
    await assert.rejects(second?.storage.list('ada', everything) ?? assert.fail(), /The database is a standby/);
    await assert.rejects(second?.storage.list('nobody', everything) ?? assert.fail(), /The database is a standby/);
    // An export does not need the latest plants.
    assert.equal((await scanAll(second?.storage ?? assert.fail())).length, 1);
    const exported = await callCommand(['export', '--storage', standby.url()], { cwd: tmpdir(), env: {} });
    assert.deepEqual([exported.code, exported.stdout.split('\n').length], [0, 2], exported.stderr);
    await standby.query('SELECT pg_wal_replay_resume()');
  });

  it('responds with 503 while the database is unreachable, and recovers afterward', async (t) => {
    const proxy = await startTcpProxy(t, cluster.port);
    const connectionString = (await cluster.makeDatabase()).replace(`:${cluster.port}`, `:${proxy.port}`);
    const service = await startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString }) }) });
    for (let n = 0; n < 2; n++) {
      for (const [port, expected] of [
        [1, [503, 503, 503]],
        [cluster.port, [200, 200, 204]],
      ] as const) {
        proxy.pointTo(port);
        const statuses = [
          (await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' })).status,
          (await service.call('GET', '/plants')).status,
          (await service.call('DELETE', '/plants/1')).status,
        ];
        assert.deepEqual(statuses, expected);
      }
    }
  });
});
