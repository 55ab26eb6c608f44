import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import type { Write } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { failure, observed } from '../../support/observed-pool.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

const create = (user: string, id: bigint, name = 'a plant'): Write => ({ kind: 'create', user, plant: { id, name } });
const remove = (user: string, id: bigint): Write => ({ kind: 'delete', user, id });
const everything = { after: undefined, limit: 1000 };

describe('The options of a PostgresStorage', () => {
  const pool: PostgresPool = { query: async () => ({ rows: [] }) };
  const wrong: [string, object, RegExp][] = [
    ['no pool', { pool: undefined }, /^pool must be/],
    ['a pool without query', { pool: {} }, /^pool must be/],
    ['an empty table', { table: '' }, /^table must be/],
    ['a table that is no text', { table: 7 }, /^table must be/],
    ['U+0000 in a table', { table: 'a\0b' }, /^table must be/],
    ['64 bytes of table', { table: 'é'.repeat(32) }, /^table must be/],
    ['an empty schema', { schema: '' }, /^schema must be/],
    ['64 bytes of schema', { schema: 'x'.repeat(64) }, /^schema must be/],
    ['a createTable that is no boolean', { createTable: 'no' }, /^createTable must be/],
  ];
  for (const [name, options, message] of wrong) {
    it(`must not be ${name}`, () => {
      const open = (): unknown => new PostgresStorage({ pool, ...options });
      assert.throws(open, (error) => error instanceof TypeError && message.test(error.message));
    });
  }

  it('take any name of 63 bytes, quotes and all', async (t) => {
    const [schema, table] = [`it's "${'é'.repeat(28)}"`, '"; DROP TABLE plants; --'];
    assert.equal(Buffer.byteLength(schema), 63);
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema, table });
    assert.deepEqual(await storage.commit([create('ada', 1n)]), [true]);
    const found = await cluster.query('SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2', [
      schema,
      table,
    ]);
    assert.equal(found.length, 1);
  });

  it('need nothing but the pool: the table is then "plants" on the search path', async (t) => {
    const connectionString = await cluster.makeDatabase();
    const pool = poolOf(t, { connectionString });
    await new PostgresStorage({ pool }).commit([create('ada', 1n)]);
    assert.equal((await pool.query('SELECT FROM public.plants')).rowCount, 1);
  });
});

describe('The table of a PostgresStorage', () => {
  it('is created once by ten servers that start at the same moment', async (t) => {
    for (let round = 0; round < 5; round++) {
      const connectionString = await cluster.makeDatabase();
      const pools = Array.from({ length: 10 }, () => poolOf(t, { connectionString, max: 1 }));
      await Promise.all(pools.map((pool) => pool.query('SELECT')));
      const storages = pools.map((pool) => new PostgresStorage({ pool, schema: 'garden' }));
      const outcomes = await Promise.all(
        storages.map((storage, n) => storage.commit([create('ada', 0n), create('ada', BigInt(n + 1))])),
      );
      assert.equal(outcomes.flat().filter(Boolean).length, 11);
      await Promise.all(
        pools.map((pool) => pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)),
      );
    }
  });

  it('is looked for at the first use, once, and not before', async (t) => {
    const pool = observed(cluster.pool(t));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    assert.equal(pool.texts.length, 0);
    await Promise.all([storage.commit([create('ada', 1n)]), storage.list('ada', everything)]);
    assert.equal(pool.texts.filter((text) => text.startsWith('CREATE TABLE')).length, 1);
    pool.texts.length = 0;
    await storage.commit([create('ada', 2n)]);
    assert.equal(pool.texts.length, 1);
  });

  it('is not touched where it is there, so that nobody waits for a lock', async (t) => {
    const schema = cluster.newSchemaName();
    await new PostgresStorage({ pool: cluster.pool(t), schema }).commit([]);
    const busy = new Client({ connectionString: cluster.url() });
    await busy.connect();
    t.after(() => busy.end());
    // As much as a writing server holds, and a reading one waits for nothing less.
    await busy.query(`BEGIN; LOCK TABLE "${schema}".plants IN ROW EXCLUSIVE MODE`);
    const pool = observed(cluster.pool(t));
    await new PostgresStorage({ pool, schema }).commit([create('ada', 1n)]);
    assert.deepEqual(
      pool.texts.filter((text) => /\b(?:CREATE|ALTER|LOCK)\b/.test(text)),
      [],
    );
  });

  it('is looked for again after that failed', async (t) => {
    let isDown = true;
    const pool = observed(cluster.pool(t), () => (isDown ? failure('57P03') : undefined));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    await assert.rejects(storage.list('ada', everything), { code: '57P03' });
    isDown = false;
    assert.deepEqual(await storage.list('ada', everything), []);
  });

  it('is not created with createTable: false, and used once it is there', async (t) => {
    const pool = cluster.pool(t);
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool, schema, createTable: false });
    await assert.rejects(storage.commit([create('ada', 1n)]), (error) => {
      assert.ok(error instanceof PlantStoreError && error.cause instanceof Error);
      assert.deepEqual([error.code, error.message], ['storage_unsupported', 'The storage has no table for plants.']);
      assert.equal(error.cause.message, `There is no table "${schema}"."plants".`);
      return true;
    });
    assert.deepEqual(await cluster.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]), []);
    await new PostgresStorage({ pool, schema }).commit([]);
    assert.deepEqual(await storage.commit([create('ada', 1n)]), [true]);
  });

  const strange: [string, string][] = [
    ['lacks a column', '"user" text, id bigint, name text, PRIMARY KEY ("user", id)'],
    ['has ids of 32 bits', '"user" text, id integer, name text, tag text, PRIMARY KEY ("user", id)'],
    ['has names of a bounded length', '"user" text, id bigint, name varchar(10), tag text, PRIMARY KEY ("user", id)'],
    ['has no primary key', '"user" text, id bigint, name text, tag text'],
  ];
  for (const [what, columns] of strange) {
    it(`is refused where it ${what}`, async (t) => {
      const schema = cluster.newSchemaName();
      await cluster.query(`CREATE SCHEMA "${schema}"`);
      await cluster.query(`CREATE TABLE "${schema}".plants (${columns})`);
      const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
      await assert.rejects(storage.commit([create('ada', 1n)]), {
        name: 'PlantStoreError',
        code: 'storage_unsupported',
      });
    });
  }

  it('has users in the order of their bytes, whatever the locale of the database', async (t) => {
    const schema = cluster.newSchemaName();
    await new PostgresStorage({ pool: cluster.pool(t), schema }).commit([]);
    const [column] = await cluster.query(
      "SELECT collation_name FROM information_schema.columns WHERE table_schema = $1 AND column_name = 'user'",
      [schema],
    );
    assert.deepEqual(column, { collation_name: 'C' });
  });

  it('is scanned in the order of bytes, also where somebody created it with another one', async (t) => {
    const schema = cluster.newSchemaName();
    await cluster.query(`CREATE SCHEMA "${schema}"`);
    // An order in which a comes before B, that of Unicode's collation algorithm.
    await cluster.query(
      `CREATE TABLE "${schema}".plants ("user" text COLLATE "unicode", id bigint, name text NOT NULL, tag text, PRIMARY KEY ("user", id))`,
    );
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
    await storage.commit(['a', 'B', 'c'].map((user) => create(user, 1n)));
    assert.deepEqual(
      (await storage.scan(everything)).map(({ user }) => user),
      ['B', 'a', 'c'],
    );
    assert.deepEqual(
      (await storage.scan({ after: { user: 'B', id: 1n }, limit: 1 })).map(({ user }) => user),
      ['a'],
    );
  });

  it('needs no right to create anything where it is there', async (t) => {
    const schema = cluster.newSchemaName();
    await new PostgresStorage({ pool: cluster.pool(t), schema }).commit([]);
    await cluster.query('CREATE ROLE gardener LOGIN');
    await cluster.query(`GRANT USAGE ON SCHEMA "${schema}" TO gardener`);
    await cluster.query(`GRANT SELECT, INSERT, DELETE ON "${schema}".plants TO gardener`);
    const pool = poolOf(t, { connectionString: cluster.url().replace('postgres:sesame', 'gardener') });
    const storage = new PostgresStorage({ pool, schema });
    assert.deepEqual(await storage.commit([create('ada', 1n)]), [true]);
    assert.deepEqual(await storage.commit([remove('ada', 1n)]), [true]);
  });
});
