import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { ModelClients } from '../../support/model-clients.ts';
import { startPlantLoad } from '../../support/plant-load.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** Puts two services over a new database under load, does something to the database, and asserts that nothing is lost. */
async function assertSurvives(t: TestContext, disturb: () => Promise<void>): Promise<ModelClients> {
  const connectionString = await cluster.makeDatabase();
  const services = await Promise.all(
    [1, 2].map(() =>
      startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) }) }),
    ),
  );
  const load = startPlantLoad(t, services);
  await load.acknowledgeMore(200);
  await disturb();
  await load.acknowledgeMore(200);
  await load.assertNothingLost();
  return load.clients;
}

describe('service over PostgreSQL', () => {
  for (const [how, end] of [
    ['restarted', () => cluster.stop()],
    ['killed and restarted', () => cluster.kill()],
  ] as const) {
    it(`loses no acknowledged write when the database server is ${how} under load`, async (t) => {
      await assertSurvives(t, async () => {
        await end();
        await cluster.restart();
      });
    });
  }

  it('loses no acknowledged write when its connections are terminated repeatedly', async (t) => {
    const { statuses } = await assertSurvives(t, async () => {
      for (let n = 0; n < 20; n++) {
        await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%'");
        await sleep(25);
      }
    });
    assert.ok((statuses.get(503) ?? 0) > 0);
  });

  it('responds with 503 while the database is unreachable, and recovers after that', async (t) => {
    const proxy = await startTcpProxy(t, cluster.port);
    const connectionString = (await cluster.makeDatabase()).replace(`:${cluster.port}`, `:${proxy.port}`);
    const service = await startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString }) }) });
    const statuses = async (): Promise<number[]> => [
      (await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' })).status,
      (await service.call('GET', '/plants')).status,
      (await service.call('DELETE', '/plants/1')).status,
    ];
    proxy.pointTo(1);
    assert.deepEqual(await statuses(), [503, 503, 503]);
    proxy.pointTo(cluster.port);
    assert.deepEqual(await statuses(), [200, 200, 204]);
    proxy.pointTo(1);
    assert.deepEqual(await statuses(), [503, 503, 503]);
    proxy.pointTo(cluster.port);
    assert.deepEqual(await statuses(), [200, 200, 204]);
  });
});
