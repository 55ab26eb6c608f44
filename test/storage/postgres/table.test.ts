import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { failure, observed } from '../../support/observed-pool.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { create, everything, remove } from '../../support/writes.ts';
import { scanAll } from '../../support/stored-plants.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

describe('options of a PostgresStorage', () => {
  const pool: PostgresPool = { query: async () => ({ rows: [], rowCount: 0 }) };
  const wrong: [option: string, values: unknown[]][] = [
    ['pool', [undefined, {}]],
    ['table', ['', 7, 'a\0b', 'é'.repeat(32)]],
    ['schema', ['', 'x'.repeat(64)]],
    ['createTable', ['no']],
  ];
  for (const [option, values] of wrong) {
    it(`reject an invalid ${option} with a TypeError that names it`, () => {
      for (const value of values) {
        const open = (): unknown => new PostgresStorage({ pool, [option]: value });
        assert.throws(open, { name: 'TypeError', message: new RegExp(`^${option} must be`) });
      }
    });
  }

  it('accept any name of 63 bytes, even with quotes', async (t) => {
    const [schema, table] = [`it's "${'é'.repeat(28)}"`, '"; DROP TABLE plants; --'];
    assert.equal(Buffer.byteLength(schema), 63);
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema, table });
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
    const found = 'SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2';
    assert.equal((await cluster.query(found, [schema, table])).length, 1);
  });

  it('default to the table "plants" on the search path', async (t) => {
    const connectionString = await cluster.makeDatabase();
    const pool = poolOf(t, { connectionString });
    await new PostgresStorage({ pool }).commit([create(1n)]);
    assert.equal((await pool.query('SELECT FROM public.plants')).rowCount, 1);
  });
});

describe('table of a PostgresStorage', () => {
  it('is created once by ten servers that start at the same time', async (t) => {
    for (let round = 0; round < 5; round++) {
      const connectionString = await cluster.makeDatabase();
      const pools = Array.from({ length: 10 }, () => poolOf(t, { connectionString, max: 1 }));
      await Promise.all(pools.map((pool) => pool.query('SELECT')));
      const storages = pools.map((pool) => new PostgresStorage({ pool, schema: 'garden' }));
      const outcomes = await Promise.all(
        storages.map((storage, n) => storage.commit([create(0n), create(BigInt(n + 1))])),
      );
      assert.equal(outcomes.flat().filter(Boolean).length, 11);
      await Promise.all(
        pools.map((pool) => pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)),
      );
    }
  });

  it('is created on first use, and is checked only once', async (t) => {
    const pool = observed(cluster.pool(t));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    assert.equal(pool.texts.length, 0);
    await Promise.all([storage.commit([create(1n)]), storage.list('ada', everything)]);
    assert.equal(pool.texts.filter((text) => text.startsWith('CREATE TABLE')).length, 1);
    pool.texts.length = 0;
    await storage.commit([create(2n)]);
    assert.equal(pool.texts.length, 1);
  });

  it('is not altered if it exists, so that no statement waits for a lock', async (t) => {
    const schema = cluster.newSchemaName();
    await new PostgresStorage({ pool: cluster.pool(t), schema }).commit([]);
    const busy = new Client({ connectionString: cluster.url() });
    await busy.connect();
    t.after(() => busy.end());
    // Writes take this lock. Reads take a weaker lock.
    await busy.query(`BEGIN; LOCK TABLE "${schema}".plants IN ROW EXCLUSIVE MODE`);
    const pool = observed(cluster.pool(t));
    await new PostgresStorage({ pool, schema }).commit([create(1n)]);
    assert.deepEqual(
      pool.texts.filter((text) => /\b(?:CREATE|ALTER|LOCK)\b/.test(text)),
      [],
    );
  });

  it('can have additional columns with any names', async (t) => {
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
    await storage.commit([1n, 2n, 3n].map((id) => create(id)));
    const names = ['first', 'last', 'most', 'max_size', 'nth', 'count', 'longest', 'json', 'size', 'more', 'request'];
    const columns = names.map((name) => `ADD COLUMN "${name}" bigint DEFAULT 5`);
    await cluster.query(`ALTER TABLE "${schema}".plants ${columns.join(', ')}`);
    const [page, lastPage] = await storage.listPages([1, 3].map((limit) => ({ user: 'ada', after: undefined, limit })));
    assert.deepEqual(page, { json: '[{"name":""}]', count: 1, last: 1n, hasMore: true });
    assert.deepEqual([lastPage?.count, lastPage?.last, lastPage?.hasMore], [3, 3n, false]);
    assert.deepEqual(await storage.commit([create(4n), remove(1n)]), [true, true]);
    assert.equal((await scanAll(storage)).length, 3);
  });

  it('is checked again after a failed check', async (t) => {
    let isDown = true;
    const pool = observed(cluster.pool(t), () => (isDown ? failure('57P03') : undefined));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    await assert.rejects(storage.list('ada', everything), { code: '57P03' });
    isDown = false;
    assert.deepEqual((await storage.list('ada', everything)).plants, []);
  });

  it('is not created if createTable is false, but is used as soon as it exists', async (t) => {
    const pool = cluster.pool(t);
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool, schema, createTable: false });
    const rejects = (cause: string): Promise<void> =>
      assert.rejects(storage.commit([create(1n)]), (error) => {
        assert.ok(error instanceof PlantStoreError && error.cause instanceof Error);
        assert.deepEqual([error.code, error.message], ['storage_unsupported', 'The storage has no table for plants.']);
        assert.equal(error.cause.message, cause);
        return true;
      });
    await rejects(`There is no schema "${schema}".`);
    assert.deepEqual(await cluster.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]), []);
    await cluster.query(`CREATE SCHEMA "${schema}"`);
    await rejects(`There is no table "${schema}"."plants".`);
    await new PostgresStorage({ pool, schema }).commit([]);
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
  });

  it('is not created if the encoding of the database is not UTF8, and requests fail', async (t) => {
    await cluster.query("CREATE DATABASE latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    const pool = poolOf(t, { connectionString: cluster.url('latin1') });
    for (const createTable of [true, false]) {
      const storage = new PostgresStorage({ pool, createTable });
      for (const request of [() => storage.commit([create(1n)]), () => storage.list('ada', everything)]) {
        await assert.rejects(request, (error) => {
          assert.ok(error instanceof PlantStoreError && error.cause instanceof Error);
          assert.equal(error.code, 'storage_unsupported');
          assert.equal(error.message, 'The storage is a database that cannot hold every Unicode text.');
          assert.equal(error.cause.message, 'Its server_encoding is LATIN1, not UTF8.');
          return true;
        });
      }
    }
    assert.deepEqual((await pool.query("SELECT FROM pg_tables WHERE tablename = 'plants'")).rows, []);
  });

  const order = ['B', 'a', 'é', '\u{1F33F}'];
  const locales = ['', "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'", "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'"];
  for (const locale of locales) {
    for (const isOwn of [false, true]) {
      const table = isOwn ? 'a table without COLLATE' : 'the created table';
      it(`orders users by their bytes in ${table} if the locale of the database is ${locale || 'C'}`, async (t) => {
        const connectionString = await cluster.makeDatabase(locale);
        const pool = poolOf(t, { connectionString, max: 1 });
        if (isOwn) {
          await pool.query(
            `CREATE TABLE plants ("user" text, id bigint, name text NOT NULL, tag text, PRIMARY KEY ("user", id))`,
          );
        }
        const storage = new PostgresStorage({ pool });
        await storage.commit(order.toReversed().map((user) => create(1n, user)));
        assert.deepEqual(
          (await scanAll(storage)).map(({ user }) => user),
          order,
        );
        const [scan] = await pool
          .query<{ name: string }>(
            "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%> ($1, $2::bigint)%'",
          )
          .then(({ rows }) => rows);
        await pool.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan');
        const { rows } = await pool.query<object>(`EXPLAIN EXECUTE "${scan?.name ?? ''}"('a', 1, 10)`);
        // If the index and the statement have the same collation, PostgreSQL does not need to sort the rows.
        const usesOrder = !isOwn || !locale.includes('icu');
        assert.equal(!JSON.stringify(rows).includes('Sort'), usesOrder);
      });
    }
  }

  it('if it already exists, does not require the privilege to create tables', async (t) => {
    const schema = cluster.newSchemaName();
    await new PostgresStorage({ pool: cluster.pool(t), schema }).commit([]);
    await cluster.query('CREATE ROLE gardener LOGIN');
    await cluster.query(`GRANT USAGE ON SCHEMA "${schema}" TO gardener`);
    await cluster.query(`GRANT SELECT, INSERT, DELETE ON "${schema}".plants TO gardener`);
    const pool = poolOf(t, { connectionString: cluster.url().replace('postgres:sesame', 'gardener') });
    const storage = new PostgresStorage({ pool, schema });
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
    assert.deepEqual(await storage.commit([remove(1n)]), [true]);
  });
});
