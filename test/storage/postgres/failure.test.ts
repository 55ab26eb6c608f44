import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, it } from 'node:test';
import type { TestContext } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { create, firstPage } from '../../../src/testing/plants.ts';
import { callCommand } from '../../support/call-command.ts';
import { eventually } from '../../support/eventually.ts';
import { startModelClients } from '../../support/model-clients.ts';
import type { ModelClients } from '../../support/model-clients.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { scanAll } from '../../support/stored-plants.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { countFailures, startTwoServers } from '../../support/two-servers.ts';

const cluster = await PostgresCluster.start({ after });

/** Starts two services over one database. */
function startServices(t: TestContext, connectionString: string): Promise<Service[]> {
  return startTwoServers(t, () => new PostgresStorage({ pool: cluster.pool(t, { connectionString, max: 4 }) }));
}

/** Starts clients that create and delete plants through two services. The clients are stopped after the test. */
async function startLoad(t: TestContext, connectionString: string): Promise<ModelClients> {
  const urls = (await startServices(t, connectionString)).map(({ url }) => url);
  const tokens = new Map(['ada', 'bob'].map((user) => [user, user]));
  const clients = startModelClients({ urls, tokens, clients: 16 });
  t.after(() => clients.stop());
  return clients;
}

it('two services lose no acknowledged write when PostgreSQL is stopped or killed, and restarted', async (t) => {
  const load = await startLoad(t, await cluster.makeDatabase());
  for (const end of [() => cluster.stop(), () => cluster.kill()]) {
    await load.acknowledgeMore(200);
    await end();
    await cluster.restart();
  }
  await load.acknowledgeMore(200);
  await load.assertNothingLost();
});

it('two services are linearizable while all PostgreSQL backends are terminated repeatedly', async (t) => {
  const services = await startServices(t, await cluster.makeDatabase());
  let responses = 0;
  const failures = await countFailures(services, async () => {
    if (++responses % 20 !== 0) return;
    await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%'");
  });
  assert.ok(failures > 0, 'No request failed.');
});

it('a synchronous standby refuses lists, and has every acknowledged write when it is promoted', async (t) => {
  const standby = await cluster.startSynchronousStandby(t);
  const ofPrimary = new PostgresStorage({ pool: cluster.pool(t) });
  const ofStandby = new PostgresStorage({ pool: standby.pool(t) });
  const service = await startService(t, { storage: ofStandby });
  await ofPrimary.commit([create(1, 'eve')]);
  await eventually(async () => {
    assert.equal((await standby.query('SELECT FROM plants')).length, 1);
  });
  await standby.query('SELECT pg_wal_replay_pause()');
  await ofPrimary.commit([create(2, 'eve')]);
  for (const target of ['/plants', '/plants?limit=5', '/plants?after=2']) {
    assert.equal((await service.call('GET', target)).status, 503);
  }
  for (const user of ['ada', 'nobody']) {
    await assert.rejects(ofStandby.list(user, firstPage), /The database is a standby/);
  }
  // An export does not need the latest plants.
  assert.equal((await scanAll(ofStandby)).length, 1);
  const exported = await callCommand(['export', '--storage', standby.url()], { cwd: tmpdir(), env: {} });
  assert.deepEqual([exported.code, exported.stdout.split('\n').length], [0, 2], exported.stderr);
  await standby.query('SELECT pg_wal_replay_resume()');

  const proxy = await startTcpProxy(t, cluster.port);
  const load = await startLoad(t, cluster.url().replace(`:${cluster.port}`, `:${proxy.port}`));
  await load.acknowledgeMore(200);
  await cluster.kill();
  await eventually(() => {
    assert.ok((load.statuses.get(503) ?? 0) > 0, 'No request failed while the primary was down.');
  });
  await standby.query('SELECT pg_promote()');
  proxy.pointTo(standby.port);
  await load.acknowledgeMore(200);
  await load.assertNothingLost();
});
