import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pool } from 'pg';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { eventually } from '../../support/eventually.ts';
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
  const table = cluster.newTable();
  const storage = new PostgresStorage({ pool, table });
  await storage.commit([]);
  return { pool, storage, table: `"${table}"` };
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
  const { rows } = await pool.query<object>(`EXPLAIN (FORMAT JSON) EXECUTE "${name}"(${values})`);
  return JSON.stringify(rows);
}

/** Uses the storage in every way that a service does. The ids start at `first`. Deletes all plants that it creates. */
async function useAll({ storage }: Opened, first: bigint): Promise<void> {
  const [one, two, three] = [first, first + 1n, first + 2n];
  assert.deepEqual(await storage.commit([create(one, 'eve')]), [true]);
  assert.deepEqual(await storage.commit([create(two, 'eve'), create(three, 'eve')]), [true, true]);
  for (const limit of [1, 20, 300]) {
    const page = { user: 'ada', after: undefined, limit };
    await storage.listPages([page]);
    await storage.listPages([page, { ...page, user: 'bob' }]);
    await storage.list('ada', page);
  }
  assert.deepEqual(await storage.commit([remove(one, 'eve')]), [true]);
  assert.deepEqual(await storage.commit([remove(two, 'eve'), create(one, 'eve')]), [true, true]);
  assert.deepEqual(await storage.commit([remove(one, 'eve'), remove(three, 'eve')]), [true, true]);
}

describe('prepared statements of a PostgresStorage', () => {
  // Planning each execution again doubles the CPU time in the database, which is harder to scale than the servers.
  for (const [users, plants] of [
    [1000, 40],
    [2, 100_000],
  ] as const) {
    it(`keep plans that use the index, with ${plants} plants for each of ${users} users`, async (t) => {
      const opened = await open(t);
      await cluster.query(`INSERT INTO ${opened.table} SELECT 'user ' || u, n, 'Fern ' || n, 'indoor'
        FROM generate_series(1, ${users}) AS u, generate_series(1, ${plants}) AS n`);
      await cluster.query(`ANALYZE ${opened.table}`);
      for (let n = 0n; n < 50n; n++) await useAll(opened, n * 3n);
      const kept = (await prepared(opened)).filter(({ name }) => name.includes('large'));
      assert.ok(kept.length > 0);
      for (const each of kept) {
        // PostgreSQL plans the first five executions. The table is not known to be large at the start.
        assert.ok(each.custom === 5 && each.generic >= 20, `${each.generic} generic plans: ${each.statement}`);
        const plan = await planOf(opened, each);
        assert.doesNotMatch(plan, /Seq Scan/, each.statement);
        // At an estimated cost of 100,000 (`jit_above_cost`), JIT compilation would take longer than the statement.
        const [, cost] = /"Total Cost":([\d.]+)/.exec(plan) ?? [];
        assert.ok(Number(cost) < 50_000, `${cost}: ${each.statement}`);
      }
    });
  }

  it('do not read the whole table after it has grown, even if they were planned when it was empty', async (t) => {
    const opened = await open(t);
    await cluster.query(`ALTER TABLE ${opened.table} SET (autovacuum_enabled = false)`);
    await cluster.query(`VACUUM ANALYZE ${opened.table}`);
    for (let n = 0n; n < 10n; n++) await useAll(opened, n * 3n);
    const small = await prepared(opened);
    const plans = await Promise.all(small.map((each) => planOf(opened, each)));
    assert.ok(
      plans.some((plan) => plan.includes('Seq Scan')),
      'The test must start with plans for an empty table.',
    );
    await cluster.query(`INSERT INTO ${opened.table} SELECT 'ada', n, 'Fern' FROM generate_series(1, 50000) AS n`);
    const isNew = ({ name }: Prepared): boolean => !small.some((each) => each.name === name);
    await eventually(async () => {
      await useAll(opened, -9n);
      assert.ok((await prepared(opened)).filter(isNew).length >= small.length);
    });
    const uses = async (): Promise<number[]> =>
      (await prepared(opened)).filter((each) => !isNew(each)).map(({ generic, custom }) => generic + custom);
    const before = await uses();
    for (let n = 0n; n < 10n; n++) await useAll(opened, -n * 3n - 3n);
    assert.deepEqual(await uses(), before, 'The statements for an empty table are not used any more.');
    for (const each of (await prepared(opened)).filter(isNew)) {
      assert.doesNotMatch(await planOf(opened, each), /Seq Scan/, each.statement);
    }
  });

  // A connection pooler in transaction mode causes these errors if it does not support prepared statements.
  const rejections: [code: string, reason: string, reject: (pool: Pool) => Promise<unknown>][] = [
    ['26000', 'the session has lost one', (pool) => pool.query('DEALLOCATE ALL')],
    [
      '42P05',
      'the session already has one of the same name',
      async (pool) => {
        const client = await pool.connect();
        const { connection } = client as unknown as { connection: object };
        Object.assign(connection, { parsedStatements: {}, submittedNamedStatements: {} });
        client.release();
      },
    ],
  ];
  for (const [code, reason, reject] of rejections) {
    it(`are no longer used if ${reason} (${code})`, async (t) => {
      const opened = await open(t);
      await useAll(opened, 0n);
      assert.ok((await prepared(opened)).length > 0);
      await reject(opened.pool);
      await useAll(opened, 0n);
      await opened.pool.query('DEALLOCATE ALL');
      await useAll(opened, 0n);
      assert.deepEqual(await prepared(opened), []);
    });
  }
});
