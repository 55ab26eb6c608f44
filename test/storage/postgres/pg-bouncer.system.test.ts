import { after, describe, it } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pg-bouncer.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { postgresLocation, testTwoServers } from '../../support/two-servers.ts';

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

  describe(`two servers over ${inTransactionMode}`, () => {
    testTwoServers(postgresLocation(async () => through(await cluster.makeDatabase())));
  });
} else {
  describe(inTransactionMode, () => {
    it('passes the suite for storage adapters', (t) => {
      t.skip('pgbouncer is not installed');
    });
  });
}
