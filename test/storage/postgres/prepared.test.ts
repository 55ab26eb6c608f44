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
}

/** Opens a storage adapter with one connection, so that a test can inspect the session, and creates a plant. */
async function open(t: TestContext): Promise<Opened> {
  const pool = cluster.pool(t, { max: 1 });
  const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
  await storage.commit([create(1n, 'ada', 'Fern')]);
  return { pool, storage };
}

/** Reads plants in each of the ways that use a statement of their own. Returns the names of Ada's plants. */
async function readAll({ storage }: Opened): Promise<string[]> {
  const range = { after: undefined, limit: 10 };
  const [ada, bob] = ['ada', 'bob'].map((user) => ({ user, ...range }));
  assert.ok(ada && bob);
  const { plants } = await storage.list('ada', range);
  const pages = [...(await storage.listPages([ada])), ...(await storage.listPages([ada, bob])).slice(0, 1)];
  const scanned = await storage.scan({ after: undefined, limit: 10 });
  const names = scanned.map(({ plant }) => plant.name);
  assert.deepEqual(
    plants.map(({ name }) => name),
    names,
  );
  for (const { json } of pages) assert.equal(json, JSON.stringify(names.map((name) => ({ name }))));
  return names;
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
async function prepared({ pool }: Pick<Opened, 'pool'>): Promise<Prepared[]> {
  const { rows } = await pool.query<Prepared>(`SELECT name, statement, cardinality(parameter_types) AS parameters,
    generic_plans::integer AS generic, custom_plans::integer AS custom FROM pg_prepared_statements`);
  return rows;
}

/** Returns the plan that a prepared statement keeps. */
async function planOf({ pool }: Opened, { name, parameters }: Prepared): Promise<string> {
  const values = Array.from({ length: parameters }, () => 'NULL').join();
  const { rows } = await pool.query<object>(`EXPLAIN EXECUTE "${name}"(${values})`);
  return JSON.stringify(rows);
}

/** Runs every statement that reads or writes plants. The ids start at `first`. Leaves no plants. */
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
      const pool = cluster.pool(t, { max: 1 });
      const schema = cluster.newSchemaName();
      const storage = new PostgresStorage({ pool, schema });
      await storage.commit([]);
      await cluster.query(`INSERT INTO "${schema}".plants SELECT 'user ' || u, n, 'Fern ' || n, 'indoor'
        FROM generate_series(1, ${users}) AS u, generate_series(1, ${plants}) AS n`);
      await cluster.query(`ANALYZE "${schema}".plants`);
      for (let n = 0n; n < 100n; n++) await runAll({ pool, storage }, n * 3n);
      const statements = (await prepared({ pool })).filter(({ name }) => name.includes('large'));
      assert.equal(statements.length, 7);
      for (const each of statements) {
        assert.equal(each.custom, 5, each.statement);
        assert.ok(each.generic >= 90, each.statement);
        assert.doesNotMatch(await planOf({ pool, storage }, each), /Seq Scan/, each.statement);
      }
    });
  }

  it('do not read the whole table after it has grown, even if they were planned when it was empty', async (t) => {
    const pool = cluster.pool(t, { max: 1 });
    const schema = cluster.newSchemaName();
    const opened = { pool, storage: new PostgresStorage({ pool, schema }) };
    await opened.storage.commit([]);
    await cluster.query(`ALTER TABLE "${schema}".plants SET (autovacuum_enabled = false)`);
    await cluster.query(`VACUUM ANALYZE "${schema}".plants`);
    const run = async (): Promise<void> => {
      for (let n = 0n; n < 10n; n++) await runAll(opened, n * 3n);
      await cluster.query(`VACUUM "${schema}".plants`);
    };
    await run();
    const small = await prepared(opened);
    const genericPlans = async (): Promise<number[]> =>
      (await prepared(opened)).filter(({ name }) => name.includes('small')).map(({ generic }) => generic);
    const readsAll = await Promise.all(small.map(async (each) => (await planOf(opened, each)).includes('Seq Scan')));
    assert.ok(readsAll.filter(Boolean).length >= 2, 'The test must start with plans for an empty table.');
    await cluster.query(`INSERT INTO "${schema}".plants SELECT 'ada', n, 'Fern' FROM generate_series(1, 50000) AS n`);
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

  it('are one for each statement, and are reused', async (t) => {
    const opened = await open(t);
    for (let repetition = 0; repetition < 3; repetition++) assert.deepEqual(await readAll(opened), ['Fern']);
    const statements = await prepared(opened);
    // insertOne, page, pages, list and scan.
    assert.equal(statements.length, 5);
  });

  it('are not used after the session has lost one (26000)', async (t) => {
    const opened = await open(t);
    await opened.storage.list('ada', { after: undefined, limit: 10 });
    // A pooler in transaction mode has the same effect if it continues the session on another connection.
    await opened.pool.query('DEALLOCATE ALL');
    assert.deepEqual(await readAll(opened), ['Fern']);
    assert.deepEqual(await prepared(opened), []);
  });

  it('are not used if the session already has one of the same name (42P05)', async (t) => {
    const opened = await open(t);
    await readAll(opened);
    // A pooler in transaction mode has the same effect if it uses one connection for the sessions of several clients.
    const client = await opened.pool.connect();
    Object.assign((client as unknown as { connection: object }).connection, { parsedStatements: {} });
    client.release();
    assert.deepEqual(await readAll(opened), ['Fern']);
  });

  it('are not used after the type of a column has changed (0A000)', async (t) => {
    const pool = cluster.pool(t, { max: 1 });
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool, schema });
    await storage.commit([create(1n, 'ada', 'Fern')]);
    assert.deepEqual(await readAll({ pool, storage }), ['Fern']);
    await pool.query(`ALTER TABLE "${schema}".plants ALTER "user" TYPE varchar(255) COLLATE "C"`);
    assert.deepEqual(await readAll({ pool, storage }), ['Fern']);
  });

  it('are used after any other error of a statement', async () => {
    const names: unknown[] = [];
    const query: PostgresPool['query'] = async ({ name, text, values }) => {
      if (text.includes('pg_relation_size')) return { rows: [{ isLarge: 'false' }], rowCount: 1 };
      assert.deepEqual([text, values], ['SELECT $1', ['a']]);
      names.push(name);
      throw failure('57014');
    };
    const pool = withPreparedStatements({ query }, 'plants');
    for (let call = 0; call < 2; call++) {
      await assert.rejects(pool.query({ text: 'SELECT $1', values: ['a'] }), { code: '57014' });
    }
    const [first, second] = names;
    assert.match(String(first), /^plant_store_small_[\da-f]{32}$/);
    assert.equal(second, first);
  });
});
