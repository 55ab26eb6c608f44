import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pg-bouncer.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { countFailures, startTwoServers } from '../../support/two-servers.ts';

const inTransactionMode = 'PostgresStorage through PgBouncer in transaction mode';

if (hasPgBouncer) {
  const cluster = await PostgresCluster.start();
  after(() => cluster.remove());
  const through = await startPgBouncer({ after }, cluster);

  testStorageAdapter(inTransactionMode, {
    createLocation: (t) => {
      const config = { connectionString: through(cluster.url()), max: 4 };
      const table = cluster.newTable();
      const open = (): PostgresStorage => new PostgresStorage({ pool: poolOf(t, config), table });
      return { open, reopen: open };
    },
    shared: true,
  });

  it(`two servers over ${inTransactionMode} are linearizable`, async (t) => {
    const config = { connectionString: through(await cluster.makeDatabase()), max: 4 };
    const services = await startTwoServers(t, () => new PostgresStorage({ pool: poolOf(t, config) }));
    assert.equal(await countFailures(services), 0);
  });
} else {
  it(`${inTransactionMode} passes the suite for storage adapters`, { skip: 'pgbouncer is not installed' });
}
