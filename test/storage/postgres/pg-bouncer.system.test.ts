import { after, before, describe, it } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { testStorageAdapter } from '../../../src/testing/storage/test-storage-adapter.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pg-bouncer.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { CleanUp } from '../../support/temporary-folder.ts';
import { postgresLocation, testTwoServers } from '../../support/two-servers.ts';

const inTransactionMode = 'PostgresStorage through PgBouncer in transaction mode';

if (hasPgBouncer) {
  let cluster: PostgresCluster;
  let through: (url: string) => string;
  const cleanUp = new CleanUp();
  before(async () => {
    cluster = await PostgresCluster.start();
    cleanUp.after(() => cluster.remove());
    through = await startPgBouncer(cleanUp, cluster);
  });
  after(() => cleanUp[Symbol.asyncDispose]());

  testStorageAdapter(inTransactionMode, {
    createLocation: (t) => {
      const config = { connectionString: through(cluster.url()), max: 4 };
      const table = cluster.newTable();
      const open = (): PostgresStorage => new PostgresStorage({ pool: poolOf(t, config), table });
      return { open, reopen: open };
    },
    persistent: true,
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
