import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import { maxInt64, minInt64 } from '../../../src/core/model/int64.ts';
import { testStorageAdapter } from '../../../src/kits/adapter-suite/test-storage-adapter.ts';
import type { FaultyWrite } from '../../../src/kits/adapter-suite/suite.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { failure, observed } from '../../support/observed-pool.ts';
import type { ObservedPool } from '../../support/observed-pool.ts';
import { testPageSize } from '../../support/page-size.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { postgresLocation, testTwoServers } from '../../support/two-servers.ts';
import { create, everything, remove } from '../../support/writes.ts';
import { scanAll } from '../../support/stored-plants.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

testStorageAdapter('PostgresStorage', {
  createLocation: (t) => {
    const schema = cluster.newSchemaName();
    const open = (): PostgresStorage => new PostgresStorage({ pool: cluster.pool(t, { max: 4 }), schema });
    return { schema, open, reopen: open };
  },
  persistent: true,
  makeWriteFail: ({ schema }, write) => addFault(schema, write, 'data_corrupted'),
  makePlantUnstorable: ({ schema }, write) => addFault(schema, write, 'untranslatable_character'),
});

/** Adds a trigger that raises an error when a storage applies this write. */
async function addFault(schema: string, { kind, user, id }: FaultyWrite, condition: string): Promise<void> {
  const [event, row] = kind === 'create' ? ['INSERT', 'NEW'] : ['DELETE', 'OLD'];
  await cluster.query(
    `CREATE FUNCTION "${schema}".fault() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ${condition}; END'`,
  );
  await cluster.query(`CREATE TRIGGER fault BEFORE ${event} ON "${schema}".plants FOR EACH ROW
    WHEN (${row}."user" = '${user}' AND ${row}.id = ${id}) EXECUTE FUNCTION "${schema}".fault()`);
}

describe('page of a PostgresStorage', () => {
  testPageSize(async (t) => new PostgresStorage({ pool: cluster.pool(t), schema: cluster.newSchemaName() }));
});

describe('two servers over one PostgreSQL database', () => {
  testTwoServers(postgresLocation(() => cluster.makeDatabase()));
});

describe('PostgresStorage', () => {
  it('returns exact ids, whatever type parsers the application sets', async (t) => {
    /** Parses the type text (oid 25) as `pg` does, and all other types differently. */
    const getTypeParser = (oid: number) => (value: string) => (oid === 25 ? value : { parsed: value });
    const pool = cluster.pool(t, { types: { getTypeParser } });
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    const ids = [minInt64, 9007199254740993n, maxInt64];
    assert.deepEqual(await storage.commit(ids.map((id) => create(id))), [true, true, true]);
    assert.deepEqual(await storage.commit([create(9007199254740992n), create(9007199254740993n)]), [true, false]);
    const sorted = [minInt64, 9007199254740992n, 9007199254740993n, maxInt64];
    assert.deepEqual(
      (await storage.list('ada', everything)).plants.map(({ id }) => id),
      sorted,
    );
    assert.deepEqual(
      (await scanAll(storage)).map(({ plant }) => plant.id),
      sorted,
    );
    const [page] = await storage.listPages([{ user: 'ada', ...everything }]);
    assert.equal(page?.last, maxInt64);
  });

  it('does not end the pool', async (t) => {
    const pool = cluster.pool(t);
    await new PostgresStorage({ pool }).close();
    assert.deepEqual((await pool.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
  });

  it('commits create and delete writes in one statement', async (t) => {
    const pool = observed(cluster.pool(t));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    await storage.commit([create(1n)]);
    pool.texts.length = 0;
    assert.deepEqual(await storage.commit([create(2n), remove(1n), create(3n)]), [true, true, true]);
    assert.equal(pool.texts.length, 1);
  });

  it('sorts the writes of a batch, so that two servers do not deadlock', async (t) => {
    const pool = cluster.pool(t);
    const values: unknown[][] = [];
    const query: PostgresPool['query'] = (statement) => {
      if (statement.name !== undefined) values.push(statement.values);
      return pool.query(statement);
    };
    const storage = new PostgresStorage({ pool: { query }, schema: cluster.newSchemaName() });
    await storage.commit([]);
    values.length = 0;
    await storage.commit([create(1n, 'bob'), create(10n), create(9n), create(-1n)]);
    await storage.commit([remove(1n, 'bob'), remove(10n), remove(9n), remove(-1n)]);
    const inOrder = [
      ['ada', 'ada', 'ada', 'bob'],
      ['-1', '9', '10', '1'],
    ];
    assert.deepEqual(
      values.map((given) => given.slice(0, 2)),
      [inOrder, inOrder],
    );
  });

  /** Opens a storage whose next `failures` INSERT statements fail with `code`, an SQLSTATE or a Node.js error code. */
  function openFailing(t: TestContext, code: string, failures: number): [PostgresStorage, ObservedPool, Error] {
    const error = failure(code);
    const pool = observed(cluster.pool(t), (text) => (text.startsWith('INSERT') && failures-- > 0 ? error : undefined));
    return [new PostgresStorage({ pool, schema: cluster.newSchemaName() }), pool, error];
  }

  for (const code of ['40001', '40P01']) {
    it(`retries a statement that was rolled back with ${code}, at most five times`, async (t) => {
      const [storage] = openFailing(t, code, 5);
      assert.deepEqual(await storage.commit([create(1n)]), [true]);
      const [other] = openFailing(t, code, 6);
      await assert.rejects(other.commit([create(1n)]), { code });
    });
  }

  it('does not retry a statement after any other error, because it may have taken effect', async (t) => {
    for (const code of ['08006', '57P01', '40003', '53100', '2200', '54', 'ECONNRESET']) {
      const [storage, pool, error] = openFailing(t, code, Infinity);
      await assert.rejects(storage.commit([create(1n)]), (rejection) => rejection === error);
      assert.equal(pool.texts.filter((text) => text.startsWith('INSERT')).length, 1);
    }
  });

  it('rejects a batch with invalid_plant and the cause if the database rejects a plant', async (t) => {
    for (const code of ['22021', '22P05', '23502', '23514', '54000']) {
      const [storage, , cause] = openFailing(t, code, 1);
      await assert.rejects(storage.commit([create(1n)]), (error) => {
        assert.ok(error instanceof PlantStoreError);
        return error.code === 'invalid_plant' && error.cause === cause;
      });
    }
  });

  it('recovers from a deadlock', async (t) => {
    const schema = cluster.newSchemaName();
    // A waiting connection checks for a deadlock after `deadlock_timeout`. Here, the storage's connection checks first.
    const isolated = cluster.pool(t, {
      options: '-c default_transaction_isolation=serializable -c deadlock_timeout=1s',
      max: 4,
    });
    const pool = observed(isolated);
    const storage = new PostgresStorage({ pool, schema });
    await storage.commit([create(1n), create(2n)]);
    const other = new Client({ connectionString: cluster.url() });
    await other.connect();
    t.after(() => other.end());
    // The other connection locks the second plant, then the first. The storage locks the first plant, then the second.
    await other.query(`SET deadlock_timeout = '20s'; BEGIN; SELECT FROM "${schema}".plants WHERE id = 2 FOR UPDATE`);
    pool.texts.length = 0;
    const committed = storage.commit([remove(1n), remove(2n)]);
    await waitForLock();
    await other.query(`SELECT FROM "${schema}".plants WHERE id = 1 FOR UPDATE`);
    await other.query('COMMIT');
    assert.deepEqual(await committed, [true, true]);
    assert.ok(pool.texts.length > 1, 'The statement was not retried.');
  });
});

/** Resolves when a connection is waiting for a lock. */
async function waitForLock(): Promise<void> {
  while ((await cluster.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length === 0);
}
