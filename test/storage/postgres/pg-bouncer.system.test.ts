import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sqlState } from '../../../src/storage/postgres/pool.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { testStorageAdapter } from '../../../src/testing/storage/test-storage-adapter.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pg-bouncer.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { CleanUp } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
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

  describe(inTransactionMode, () => {
    it('works without prepared statements if the pooler does not support them', async (t) => {
      const pool = poolOf(t, { connectionString: through(cluster.url()), max: 4 });
      const rejected: (string | undefined)[] = [];
      const query: PostgresPool['query'] = (statement) =>
        pool.query(statement).catch((error: unknown) => {
          rejected.push(sqlState(error));
          throw error;
        });
      const storage = new PostgresStorage({ pool: { query }, table: cluster.newTable() });
      assert.deepEqual(await storage.commit([create(1n, 'ada', 'Fern')]), [true]);
      // Other clients occupy some connections to PostgreSQL, which makes the pooler switch between connections.
      const others = poolOf(t, { connectionString: through(cluster.url()), max: 3 });
      for (let round = 0; round < 20 || (rejected.length === 0 && round < 1000); round++) {
        const busy = Array.from({ length: round % 4 }, () => others.query('SELECT pg_sleep(0.002)'));
        const lists = Array.from({ length: 4 }, () => storage.list('ada', { after: undefined, limit: 1 }));
        assert.deepEqual(
          (await Promise.all(lists)).map(({ plants }) => plants),
          Array(4).fill([{ id: 1n, name: 'Fern' }]),
        );
        await Promise.all(busy);
      }
      // At most one statement per connection was rejected.
      assert.ok(rejected.length >= 1 && rejected.length <= 4, `${rejected.length}`);
      for (const state of rejected) assert.ok(state === '26000' || state === '42P05', state);
    });
  });
} else {
  describe(inTransactionMode, () => {
    it('passes the suite for storage adapters', (t) => {
      t.skip('pgbouncer is not installed');
    });
  });
}
