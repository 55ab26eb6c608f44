import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStore } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { startCreateLoad } from '../../support/create-load.ts';
import type { LoadResult } from '../../support/create-load.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** Two services over a new database, under load while something is done to the database. */
async function underLoad(
  t: TestContext,
  disturb: () => Promise<void>,
): Promise<{ result: LoadResult; store: PlantStore }> {
  const connectionString = await cluster.makeDatabase();
  const services = await Promise.all(
    [1, 2].map(() =>
      startService(t, { storage: new PostgresStorage({ pool: poolOf(t, { connectionString, max: 4 }) }) }),
    ),
  );
  const load = startCreateLoad(
    services.map(({ url }) => url),
    16,
  );
  await load.acknowledgedMore(200);
  await disturb();
  await load.acknowledgedMore(200);
  const [first] = services;
  assert.ok(first);
  return { result: await load.stop(), store: first.store };
}

async function assertNothingLost(
  t: TestContext,
  { result, store }: { result: LoadResult; store: PlantStore },
): Promise<void> {
  const there = new Set((await store.listPlants('ada')).map(({ id }) => Number(id)));
  const lost = result.acknowledged.filter((id) => !there.has(id));
  t.diagnostic(
    `acknowledged ${result.acknowledged.length}, lost ${lost.length}, answers ${JSON.stringify(result.statuses)}, ${result.longestGap.toFixed(2)} s without service`,
  );
  assert.deepEqual(lost, []);
  assert.equal(there.size, result.acknowledged.length + result.foundTaken.length);
  assert.deepEqual(
    Object.keys(result.statuses).filter((status) => !['200', '400 taken', '503'].includes(status)),
    [],
  );
}

describe('A service over PostgreSQL', () => {
  it('fails no write because another write in its batch has a user that no index can hold', async (t) => {
    const pool = poolOf(t, { connectionString: await cluster.makeDatabase() });
    const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
    const create = (user: string, id: number): Promise<unknown> => store.createPlant(user, { id, name: 'Fern' });
    // Random bytes, because PostgreSQL compresses a long key before it measures it.
    const longUser = randomBytes(3000).toString('hex');
    const outcomes = await Promise.allSettled(
      ['ada', 'bob', longUser, 'eve', 'ada'].map((user, id) => create(user, id)),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    );
    const longest = randomBytes(128).toString('hex').slice(1);
    await create(longest, 1);
    assert.equal((await store.listPlants(longest)).length, 1);
  });

  it('loses nothing when the database server is restarted under load', async (t) => {
    const state = await underLoad(t, async () => {
      await cluster.stop();
      await cluster.restart();
    });
    await assertNothingLost(t, state);
  });

  it('loses nothing when the database server is killed and recovers', async (t) => {
    const state = await underLoad(t, async () => {
      await cluster.kill();
      await cluster.restart();
    });
    await assertNothingLost(t, state);
  });

  it('loses nothing when its connections are terminated again and again', async (t) => {
    const state = await underLoad(t, async () => {
      for (let n = 0; n < 20; n++) {
        await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%'");
        await sleep(25);
      }
    });
    assert.ok((state.result.statuses['503'] ?? 0) > 0);
    await assertNothingLost(t, state);
  });

  it('answers 503 while the database is away, and 200 when it is back', async (t) => {
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
