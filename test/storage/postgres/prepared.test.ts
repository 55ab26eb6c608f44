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

/** A prepared statement of a session, and how often PostgreSQL has planned it. */
interface Prepared {
  readonly name: string;
  readonly statement: string;
  readonly generic: number;
  readonly custom: number;
  /** The plan that PostgreSQL keeps. */
  readonly plan: string;
}

async function prepared({ pool }: Opened): Promise<Prepared[]> {
  const { rows } = await pool.query<Prepared & { nulls: string }>(`SELECT name, statement,
    generic_plans::integer AS generic, custom_plans::integer AS custom,
    array_to_string(array_fill('NULL'::text, ARRAY[cardinality(parameter_types)]), ',') AS nulls
    FROM pg_prepared_statements`);
  const found: Prepared[] = [];
  for (const { nulls, ...each } of rows) {
    const explained = await pool.query<object>(`EXPLAIN (FORMAT JSON) EXECUTE "${each.name}"(${nulls})`);
    found.push({ ...each, plan: JSON.stringify(explained.rows) });
  }
  return found;
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
      // The storage first uses its statements for a small table.
      for (let n = 0n; n < 50n; n++) await useAll(opened, n * 3n);
      const kept = (await prepared(opened)).filter(({ generic, custom }) => generic + custom >= 20);
      assert.ok(kept.length > 0);
      for (const { custom, plan, statement } of kept) {
        // PostgreSQL plans the first five executions.
        assert.equal(custom, 5, statement);
        assert.doesNotMatch(plan, /Seq Scan/, statement);
        // At an estimated cost of 100,000 (`jit_above_cost`), JIT compilation would take longer than the statement.
        const [, cost] = /"Total Cost":([\d.]+)/.exec(plan) ?? [];
        assert.ok(Number(cost) < 50_000, `${cost}: ${statement}`);
      }
    });
  }

  it('do not read the whole table after it has grown, even if they were planned when it was empty', async (t) => {
    const opened = await open(t);
    await cluster.query(`ALTER TABLE ${opened.table} SET (autovacuum_enabled = false)`);
    await cluster.query(`VACUUM ANALYZE ${opened.table}`);
    for (let n = 0n; n < 10n; n++) await useAll(opened, n * 3n);
    const forEmpty = (await prepared(opened)).filter(({ plan }) => plan.includes('Seq Scan')).map(({ name }) => name);
    assert.ok(forEmpty.length > 0, 'The test must start with plans for an empty table.');
    const executions = async (): Promise<unknown> => {
      const sum = 'SELECT sum(generic_plans + custom_plans) FROM pg_prepared_statements WHERE name = ANY($1)';
      return (await opened.pool.query<{ sum: string }>(sum, [forEmpty])).rows[0]?.sum;
    };
    await cluster.query(`INSERT INTO ${opened.table} SELECT 'ada', n, 'Fern' FROM generate_series(1, 50000) AS n`);
    await eventually(async () => {
      const before = await executions();
      await useAll(opened, -9n);
      assert.equal(await executions(), before);
    });
    const others = (await prepared(opened)).filter(({ name }) => !forEmpty.includes(name));
    for (const { plan, statement } of others) assert.doesNotMatch(plan, /Seq Scan/, statement);
  });

  it('are no longer used after a connection pooler has lost one', async (t) => {
    const opened = await open(t);
    await useAll(opened, 0n);
    for (let n = 0; n < 2; n++) {
      assert.equal((await prepared(opened)).length > 0, n === 0);
      await opened.pool.query('DEALLOCATE ALL');
      await useAll(opened, 0n);
    }
    assert.deepEqual(await prepared(opened), []);
  });
});
