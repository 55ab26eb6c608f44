import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pool } from 'pg';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { withPreparedStatements } from '../../../src/storage/postgres/prepared.ts';
import { eventually } from '../../support/eventually.ts';
import { failure } from '../../support/observed-pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create, remove } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

interface Opened {
  readonly pool: Pool;
  readonly storage: PostgresStorage;
  readonly table: string;
}

/** Opens a storage adapter and creates its table. With only one connection, a test can inspect the session. */
async function open(t: TestContext): Promise<Opened> {
  const pool = cluster.pool(t, { max: 1 });
  const schema = cluster.newSchemaName();
  const storage = new PostgresStorage({ pool, schema });
  await storage.commit([]);
  return { pool, storage, table: `"${schema}".plants` };
}

/** A prepared statement of a session. */
interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly parameters: number;
  readonly generic: number;
  readonly custom: number;
}

/** Returns the statements that are prepared in the session. */
async function prepared({ pool }: Opened): Promise<Prepared[]> {
  const { rows } = await pool.query<Prepared>(`SELECT name, statement, cardinality(parameter_types) AS parameters,
    generic_plans::integer AS generic, custom_plans::integer AS custom FROM pg_prepared_statements`);
  return rows;
}

/** Returns the cached plan of a prepared statement. */
async function planOf({ pool }: Opened, { name, parameters }: Prepared): Promise<string> {
  const values = Array.from({ length: parameters }, () => 'NULL').join();
  const { rows } = await pool.query<object>(`EXPLAIN EXECUTE "${name}"(${values})`);
  return JSON.stringify(rows);
}

/** Runs every statement that reads or writes plants. The ids start at `first`. Deletes all plants that it creates. */
async function runAll({ storage }: Opened, first: bigint): Promise<void> {
  const [one, two, three] = [first, first + 1n, first + 2n];
  assert.deepEqual(await storage.commit([create(one, 'eve')]), [true]);
  assert.deepEqual(await storage.commit([create(two, 'eve'), create(three, 'eve')]), [true, true]);
  for (const limit of [1, 20, 300]) {
    const page = { user: 'ada', after: undefined, limit };
    await storage.listPages([page]);
    await storage.listPages([page, { ...page, user: 'bob' }]);
  }
  assert.deepEqual(await storage.commit([remove(one, 'eve')]), [true]);
  assert.deepEqual(await storage.commit([remove(two, 'eve'), create(one, 'eve')]), [true, true]);
  assert.deepEqual(await storage.commit([remove(one, 'eve'), remove(three, 'eve')]), [true, true]);
}

describe('prepared statements of a PostgresStorage', () => {
  for (const [users, plants] of [
    [1000, 40],
    [2, 20_000],
  ] as const) {
    it(`keep their plans, with ${plants} plants for each of ${users} users`, async (t) => {
      const opened = await open(t);
      await cluster.query(`INSERT INTO ${opened.table} SELECT 'user ' || u, n, 'Fern ' || n, 'indoor'
        FROM generate_series(1, ${users}) AS u, generate_series(1, ${plants}) AS n`);
      await cluster.query(`ANALYZE ${opened.table}`);
      for (let n = 0n; n < 100n; n++) await runAll(opened, n * 3n);
      const statements = (await prepared(opened)).filter(({ name }) => name.includes('large'));
      assert.equal(statements.length, 7);
      for (const each of statements) {
        assert.equal(each.custom, 5, each.statement);
        assert.ok(each.generic >= 90, each.statement);
        assert.doesNotMatch(await planOf(opened, each), /Seq Scan/, each.statement);
      }
    });
  }

  it('do not read the whole table after it has grown, even if they were planned when it was empty', async (t) => {
    const opened = await open(t);
    await cluster.query(`ALTER TABLE ${opened.table} SET (autovacuum_enabled = false)`);
    await cluster.query(`VACUUM ANALYZE ${opened.table}`);
    for (let n = 0n; n < 10n; n++) await runAll(opened, n * 3n);
    await cluster.query(`VACUUM ${opened.table}`);
    const small = await prepared(opened);
    const genericPlans = async (): Promise<number[]> =>
      (await prepared(opened)).filter(({ name }) => name.includes('small')).map(({ generic }) => generic);
    const readsAll = await Promise.all(small.map(async (each) => (await planOf(opened, each)).includes('Seq Scan')));
    assert.ok(readsAll.filter(Boolean).length >= 2, 'The test must start with plans for an empty table.');
    await cluster.query(`INSERT INTO ${opened.table} SELECT 'ada', n, 'Fern' FROM generate_series(1, 50000) AS n`);
    await eventually(async () => {
      await runAll(opened, -9n);
      assert.ok((await prepared(opened)).length >= 2 * small.length);
    });
    const planned = await genericPlans();
    for (let n = 0n; n < 10n; n++) await runAll(opened, -n * 3n - 3n);
    const added = (await prepared(opened)).filter(({ name }) => !small.some((each) => each.name === name));
    assert.equal(added.length, small.length);
    for (const each of added) assert.doesNotMatch(await planOf(opened, each), /Seq Scan/, each.statement);
    assert.deepEqual(await genericPlans(), planned, 'The plans for an empty table are not used any more.');
  });

  const rejections: [code: string, reason: string, reject: (opened: Opened) => Promise<unknown>][] = [
    // A pooler in transaction mode causes this error if it continues the session on another connection.
    ['26000', 'the session has lost one', ({ pool }) => pool.query('DEALLOCATE ALL')],
    [
      '42P05',
      'the session already has one of the same name',
      // A pooler in transaction mode causes this error if it uses one connection for the sessions of several clients.
      async ({ pool }) => {
        const client = await pool.connect();
        Object.assign((client as unknown as { connection: object }).connection, { parsedStatements: {} });
        client.release();
      },
    ],
    [
      '0A000',
      'the type of a column has changed',
      ({ pool, table }) => pool.query(`ALTER TABLE ${table} ALTER "user" TYPE varchar(255) COLLATE "C"`),
    ],
  ];
  for (const [code, reason, reject] of rejections) {
    it(`are no longer used if ${reason} (${code})`, async (t) => {
      const opened = await open(t);
      await runAll(opened, 0n);
      await reject(opened);
      await runAll(opened, 0n);
      await opened.pool.query('DEALLOCATE ALL');
      await runAll(opened, 0n);
      assert.deepEqual(await prepared(opened), []);
    });
  }

  it('are still used after a statement fails with any other error', async () => {
    const names: (string | undefined)[] = [];
    const query: PostgresPool['query'] = async ({ name, text }) => {
      if (text === 'SELECT 1') names.push(name);
      throw failure('57014');
    };
    const pool = withPreparedStatements({ query }, 'plants');
    for (let call = 0; call < 2; call++) {
      await assert.rejects(pool.query({ text: 'SELECT 1', values: [] }), { code: '57014' });
    }
    assert.match(String(names[0]), /^plant_store_small_[\da-f]{32}$/);
    assert.equal(names[1], names[0]);
  });
});
