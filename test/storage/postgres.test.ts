import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, types } from 'pg';
import type { Pool } from 'pg';
import { PlantStore, PlantStoreError } from '../../src/index.ts';
import type { StorageAdapter, Write } from '../../src/index.ts';
import { maxInt64, minInt64 } from '../../src/int64.ts';
import { testStorageAdapter } from '../../src/storage/conformance.ts';
import { PostgresStorage } from '../../src/storage/postgres.ts';
import type { PostgresPool } from '../../src/storage/postgres.ts';
import { PostgresCluster, poolOf } from '../helpers/postgres.ts';

let cluster: PostgresCluster;
before(async () => { cluster = await PostgresCluster.start(); });
after(() => cluster.remove());

const create = (user: string, id: bigint, name = 'a plant'): Write => ({ kind: 'create', user, plant: { id, name } });
const remove = (user: string, id: bigint): Write => ({ kind: 'delete', user, id });
const everything = { after: undefined, limit: 1000 };

testStorageAdapter('PostgresStorage', {
  makePlace: (t) => {
    const pool = cluster.pool(t, { max: 4 });
    const schema = cluster.newSchemaName();
    return { open: () => new PostgresStorage({ pool, schema }) };
  },
  isShared: true,
});

/** A pool that keeps the texts it was asked, and fails where it is told to. */
function observed(pool: Pool, fail: (text: string) => Error | undefined = () => undefined): PostgresPool & { texts: string[] } {
  const texts: string[] = [];
  return {
    texts,
    query: async (text, values) => {
      texts.push(text);
      const error = fail(text);
      if (error !== undefined) throw error;
      return pool.query(text, values);
    },
  };
}

function failure(code: string): Error {
  return Object.assign(new Error(`failed with ${code}`), { code });
}

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
      const open = (): unknown => new PostgresStorage({ pool, ...options } as ConstructorParameters<typeof PostgresStorage>[0]);
      assert.throws(open, (error) => error instanceof TypeError && message.test(error.message));
    });
  }

  it('take any name of 63 bytes, quotes and all', async (t) => {
    const [schema, table] = [`it's "${'é'.repeat(28)}"`, '"; DROP TABLE plants; --'];
    assert.equal(Buffer.byteLength(schema), 63);
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema, table });
    assert.deepEqual(await storage.commit([create('ada', 1n)]), [true]);
    const found = await cluster.query('SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2', [schema, table]);
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
      const outcomes = await Promise.all(storages.map((storage, n) => storage.commit([create('ada', 0n), create('ada', BigInt(n + 1))])));
      assert.equal(outcomes.flat().filter(Boolean).length, 11);
      await Promise.all(pools.map((pool) => pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)));
    }
  });

  it('is looked for at the first use, once, and not before', async (t) => {
    const pool = observed(cluster.pool(t));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    assert.deepEqual(pool.texts, []);
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
    assert.deepEqual(pool.texts.filter((text) => /\b(?:CREATE|ALTER|LOCK)\b/.test(text)), []);
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
      await assert.rejects(storage.commit([create('ada', 1n)]), { name: 'PlantStoreError', code: 'storage_unsupported' });
    });
  }

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

describe('A PostgresStorage', () => {
  it('is exact whatever parsers of types the application has set', async (t) => {
    const parse = types.getTypeParser(types.builtins.INT8);
    t.after(() => { types.setTypeParser(types.builtins.INT8, parse); });
    types.setTypeParser(types.builtins.INT8, Number);
    const storage: StorageAdapter = new PostgresStorage({ pool: cluster.pool(t), schema: cluster.newSchemaName() });
    const ids = [minInt64, 9007199254740993n, maxInt64];
    assert.deepEqual(await storage.commit(ids.map((id) => create('ada', id))), [true, true, true]);
    assert.deepEqual(await storage.commit([create('ada', 9007199254740992n), create('ada', 9007199254740993n)]), [true, false]);
    const sorted = [minInt64, 9007199254740992n, 9007199254740993n, maxInt64];
    assert.deepEqual((await storage.list('ada', everything)).map(({ id }) => id), sorted);
    assert.deepEqual((await storage.scan(everything)).map(({ plant }) => plant.id), sorted);
    assert.equal((await storage.listJson?.('ada', everything))?.last, maxInt64);
  });

  it('never ends the pool', async (t) => {
    const pool = cluster.pool(t);
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    const store = new PlantStore({ storage });
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    await store.close();
    await assert.rejects(storage.scan(everything), { code: 'closed' });
    await assert.rejects(storage.commit([]), { code: 'closed' });
    assert.equal(pool.ending, false);
    assert.deepEqual((await pool.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
  });

  it('commits a batch of creates and deletes in one statement, all or nothing', async (t) => {
    const schema = cluster.newSchemaName();
    const pool = observed(cluster.pool(t));
    const storage = new PostgresStorage({ pool, schema });
    await storage.commit([create('ada', 1n)]);
    await cluster.query(`ALTER TABLE "${schema}".plants ADD CHECK (name <> 'weed')`);
    pool.texts.length = 0;
    await assert.rejects(storage.commit([create('ada', 2n), remove('ada', 1n), create('ada', 3n, 'weed')]), { code: '23514' });
    assert.equal(pool.texts.length, 1);
    assert.deepEqual((await storage.list('ada', everything)).map(({ id }) => id), [1n]);
  });

  for (const code of ['40001', '40P01']) {
    it(`runs a statement again, five times at the most, that was rolled back with ${code}`, async (t) => {
      let failures = 0;
      const pool = observed(cluster.pool(t), (text) => (text.startsWith('INSERT') && failures-- > 0 ? failure(code) : undefined));
      const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
      failures = 5;
      assert.deepEqual(await storage.commit([create('ada', 1n)]), [true]);
      failures = 6;
      await assert.rejects(storage.commit([create('ada', 2n)]), { code });
    });
  }

  for (const code of ['08006', '57P01', '40003', 'ECONNRESET']) {
    it(`never runs a statement again after ${code}: it may have happened`, async (t) => {
      const pool = observed(cluster.pool(t), (text) => (text.startsWith('INSERT') ? failure(code) : undefined));
      const store = new PlantStore({ storage: new PostgresStorage({ pool, schema: cluster.newSchemaName() }) });
      await assert.rejects(store.createPlant('ada', { id: 1, name: 'Fern' }), { code: 'storage_unavailable' });
      assert.equal(pool.texts.filter((text) => text.startsWith('INSERT')).length, 1);
    });
  }

  it('gets over a deadlock and over serialization failures', async (t) => {
    const schema = cluster.newSchemaName();
    const isolated = cluster.pool(t, { options: '-c default_transaction_isolation=serializable -c deadlock_timeout=10ms', max: 4 });
    const pool = observed(isolated);
    const storage = new PostgresStorage({ pool, schema });
    await storage.commit([create('ada', 1n), create('ada', 2n)]);
    const other = new Client({ connectionString: cluster.url() });
    await other.connect();
    t.after(() => other.end());
    // The other one has the second plant and wants the first; the storage takes the first and wants the second.
    await other.query(`SET deadlock_timeout = '1min'; BEGIN; SELECT FROM "${schema}".plants WHERE id = 2 FOR UPDATE`);
    pool.texts.length = 0;
    const committed = storage.commit([remove('ada', 1n), remove('ada', 2n)]);
    await waitForLock();
    await other.query(`SELECT FROM "${schema}".plants WHERE id = 1 FOR UPDATE`);
    await other.query('COMMIT');
    assert.deepEqual(await committed, [true, true]);
    assert.ok(pool.texts.length > 1, 'It was not run again');
  });
});

/** Resolves when somebody waits for a lock. */
async function waitForLock(): Promise<void> {
  while ((await cluster.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length === 0);
}
