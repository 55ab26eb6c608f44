import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { maxInt64, minInt64 } from '../../../src/core/model/int64.ts';
import { testStorageAdapter } from '../../../src/testing/storage/test-storage-adapter.ts';
import type { FaultyWrite } from '../../../src/testing/storage/options.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { testJsonPages, testPageSize } from '../../support/page-size.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { scanAll } from '../../support/stored-plants.ts';
import { postgresLocation, testTwoServers } from '../../support/two-servers.ts';
import { create, everything, remove } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

testStorageAdapter('PostgresStorage', {
  createLocation: (t) => {
    const table = cluster.newTable();
    const open = (): PostgresStorage => new PostgresStorage({ pool: cluster.pool(t, { max: 4 }), table });
    return { table, open, reopen: open };
  },
  persistent: true,
  makeWriteFail: ({ table }, write) => addFault(table, write),
});

/** Adds a trigger that raises an error when a storage applies this write. */
async function addFault(table: string, { kind, user, id }: FaultyWrite): Promise<void> {
  const [event, row] = kind === 'create' ? ['INSERT', 'NEW'] : ['DELETE', 'OLD'];
  await cluster.query(
    `CREATE FUNCTION "fault of ${table}"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE data_corrupted; END'`,
  );
  await cluster.query(`CREATE TRIGGER fault BEFORE ${event} ON "${table}" FOR EACH ROW
    WHEN (${row}."user" = '${user}' AND ${row}.id = ${id}) EXECUTE FUNCTION "fault of ${table}"()`);
}

describe('page of a PostgresStorage', () => {
  const open = async (t: TestContext): Promise<PostgresStorage> =>
    new PostgresStorage({ pool: cluster.pool(t), table: cluster.newTable() });
  testPageSize(open);
  testJsonPages(open);
});

describe('two servers over one PostgreSQL database', () => {
  testTwoServers(postgresLocation(() => cluster.makeDatabase()));
});

describe('PostgresStorage', () => {
  it('returns exact ids, whatever type parsers the application sets', async (t) => {
    /** Parses the type text (oid 25) as `pg` does, and all other types differently. */
    const getTypeParser = (oid: number) => (value: string) => (oid === 25 ? value : { parsed: value });
    const pool = cluster.pool(t, { types: { getTypeParser } });
    const storage = new PostgresStorage({ pool, table: cluster.newTable() });
    const ids = [minInt64, 9007199254740993n, maxInt64];
    assert.deepEqual(await storage.commit(ids.map((id) => create(id))), [true, true, true]);
    assert.deepEqual(await storage.commit([create(9007199254740992n), create(9007199254740993n)]), [true, false]);
    const sorted = [minInt64, 9007199254740992n, 9007199254740993n, maxInt64];
    const { plants } = await storage.list('ada', everything);
    const scanned = await scanAll(storage);
    for (const found of [plants, scanned.map(({ plant }) => plant)]) {
      assert.deepEqual(
        found.map(({ id }) => id),
        sorted,
      );
    }
    const [page] = await storage.listPages([{ user: 'ada', ...everything }]);
    assert.equal(page?.last, maxInt64);
  });

  it('does not end the pool', async (t) => {
    const pool = cluster.pool(t);
    await new PostgresStorage({ pool }).close();
    assert.deepEqual((await pool.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
  });

  it('commits batches of two servers in opposite orders without deadlocks', async (t) => {
    const connectionString = await cluster.makeDatabase();
    const storages = [1, 2].map(() => new PostgresStorage({ pool: cluster.pool(t, { connectionString }) }));
    for (const storage of storages) await storage.commit([create(-1), create(-2)]);
    const ids = Array.from({ length: 2000 }, (_, n) => n);
    for (const write of [create, remove, create, remove]) {
      const [first, second] = [ids, ids.toReversed()].map((order) => order.map((id) => write(id)));
      const [some, others] = await Promise.all([storages[0]?.commit(first ?? []), storages[1]?.commit(second ?? [])]);
      assert.deepEqual(
        ids.map((id) => Number(some?.[id]) + Number(others?.at(-1 - id))),
        ids.map(() => 1),
      );
    }
    // The servers would recover from a deadlock, but PostgreSQL notices it only after a second.
    const statistics = 'SELECT deadlocks::integer AS count FROM pg_stat_database WHERE datname = current_database()';
    assert.deepEqual(await cluster.queryAt(connectionString, statistics), [{ count: 0 }]);
  });

  /** Opens a storage whose next `failures` INSERT statements fail with `code`, an SQLSTATE or a Node.js error code. */
  function openFailing(t: TestContext, code: string, failures: number): PostgresStorage {
    const pool = cluster.pool(t);
    let left = failures;
    const query: PostgresPool['query'] = async (statement) => {
      if (!statement.text.startsWith('INSERT') || left === 0) return pool.query(statement);
      left--;
      throw Object.assign(new Error(`failed with ${code}`), { code });
    };
    return new PostgresStorage({ pool: { query }, table: cluster.newTable() });
  }

  for (const code of ['40001', '40P01']) {
    it(`retries a statement that was rolled back with ${code}, at most five times`, async (t) => {
      assert.deepEqual(await openFailing(t, code, 5).commit([create(1n)]), [true]);
      await assert.rejects(openFailing(t, code, 6).commit([create(1n)]), { code });
    });
  }

  it('does not retry a statement after any other error, because it may have taken effect', async (t) => {
    for (const code of ['08006', '57P01', '40003', '53100', '22021', '23514', 'ECONNRESET']) {
      await assert.rejects(openFailing(t, code, 1).commit([create(1n)]), { code });
    }
  });

  it('is closed when the lists in progress have been read', async (t) => {
    const storage = new PostgresStorage({ pool: cluster.pool(t), table: cluster.newTable() });
    await storage.commit(Array.from({ length: 1000 }, (_, id) => create(id)));
    let settled = 0;
    const lists = Array.from({ length: 30 }, () =>
      storage.listPages([{ user: 'ada', ...everything }]).finally(() => {
        settled++;
      }),
    );
    await storage.close();
    // The last list can settle in the same tick as `close`.
    await new Promise(setImmediate);
    assert.equal(settled, 30);
    for (const [page] of await Promise.all(lists)) assert.equal(page?.count, 1000);
  });
});
