/**
 * Unlike other tests, these look at the plans that PostgreSQL keeps, because no response shows them. A plan that reads
 * the whole table, or planning each execution again, only multiplies the CPU time in the database.
 */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { Pool } from 'pg';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create, remove } from '../../support/writes.ts';

const cluster = await PostgresCluster.start();
after(() => cluster.remove());

/** Uses the storage in every way that a service does. Deletes all plants that it creates. */
async function useAll(storage: PostgresStorage): Promise<void> {
  for (const write of [create, remove]) {
    await storage.commit([write(1, 'eve')]);
    await storage.commit([write(2, 'eve'), write(3, 'eve')]);
  }
  await storage.commit([remove(2, 'eve'), create(1, 'eve')]);
  await storage.commit([remove(1, 'eve')]);
  for (const limit of [1, 20, 300]) {
    const range = { after: undefined, limit };
    await storage.list('ada', range);
    await Promise.all(['ada', 'bob'].map((user) => storage.list(user, range)));
  }
}

/** Returns the session's prepared statements: how often PostgreSQL has planned each with values, and the kept plan. */
async function prepared(pool: Pool) {
  type Row = Record<'name' | 'statement' | 'nulls', string> & { custom: number };
  const { rows } = await pool.query<Row>(`SELECT name, statement, custom_plans::integer AS custom,
    array_to_string(array_fill('NULL'::text, ARRAY[cardinality(parameter_types)]), ',') AS nulls
    FROM pg_prepared_statements`);
  const found = rows.map(async ({ nulls, ...each }) => {
    const explained = await pool.query<object>(`EXPLAIN (FORMAT JSON) EXECUTE "${each.name}"(${nulls})`);
    return { ...each, plan: JSON.stringify(explained.rows) };
  });
  return Promise.all(found);
}

it('prepared statements of a PostgresStorage › are planned five times, then keep a plan with the index', async (t) => {
  const [pool, table] = [cluster.pool(t, { max: 1 }), cluster.newTable()];
  await new PostgresStorage({ pool, table }).commit([]);
  await cluster.query(`INSERT INTO "${table}" SELECT 'user ' || u, n, 'Fern ' || n, 'indoor'
    FROM generate_series(1, 2) AS u, generate_series(1, 100000) AS n`);
  await cluster.query(`ANALYZE "${table}"`);
  const storage = new PostgresStorage({ pool, table });
  for (let n = 0; n < 20; n++) await useAll(storage);
  const kept = await prepared(pool);
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
