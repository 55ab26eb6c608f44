import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Client } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { create, everything, remove } from '../../support/writes.ts';

const cluster = await PostgresCluster.start();
after(() => cluster.remove());

/** Asserts that each operation is rejected with `storage_unsupported` and with this cause. */
async function assertUnsupported(storage: PostgresStorage, cause: RegExp): Promise<void> {
  const operations = [
    () => storage.commit([create(1n)]),
    () => storage.list('ada', everything),
    () => storage.scan()[Symbol.asyncIterator]().next(),
  ];
  for (const operation of operations) {
    await assert.rejects(operation, (error) => {
      assert.ok(error instanceof PlantStoreError && error.cause instanceof Error);
      assert.equal(error.code, 'storage_unsupported');
      assert.match(error.cause.message, cause);
      return true;
    });
  }
}

describe('table of a PostgresStorage', () => {
  it('can have any name of 63 bytes, even with quotes', async (t) => {
    const [schema, table] = [`it's "${'é'.repeat(28)}"`, '"; DROP TABLE plants; --'];
    await cluster.query(`CREATE SCHEMA "${schema.replaceAll('"', '""')}"`);
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema, table });
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
    const found = 'SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2';
    assert.equal((await cluster.query(found, [schema, table])).length, 1);
  });

  it('is created once by ten servers that start at the same time on an empty database', async (t) => {
    for (let round = 0; round < 2; round++) {
      const connectionString = await cluster.makeDatabase();
      const pools = Array.from({ length: 10 }, () => poolOf(t, { connectionString, max: 1 }));
      await Promise.all(pools.map((pool) => pool.query('SELECT')));
      const storages = pools.map((pool) => new PostgresStorage({ pool }));
      const outcomes = await Promise.all(
        storages.map((storage, n) => storage.commit([create(0n), create(BigInt(n + 1))])),
      );
      assert.equal(outcomes.flat().filter(Boolean).length, 11);
      assert.equal((await cluster.queryAt(connectionString, 'SELECT FROM public.plants')).length, 11);
      await Promise.all(
        pools.map((pool) => pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)),
      );
    }
  });

  it('is checked and used while another transaction writes to it', async (t) => {
    const table = cluster.newTable();
    await new PostgresStorage({ pool: cluster.pool(t), table }).commit([]);
    const busy = new Client({ connectionString: cluster.url() });
    await busy.connect();
    t.after(() => busy.end());
    // Writes take this lock. ALTER TABLE would wait for it.
    await busy.query(`BEGIN; LOCK TABLE "${table}" IN ROW EXCLUSIVE MODE`);
    const pool = cluster.pool(t, { lock_timeout: 100 });
    assert.deepEqual(await new PostgresStorage({ pool, table }).commit([create(1n)]), [true]);
  });

  it('is not created if createTable is false, but is used as soon as it exists', async (t) => {
    const pool = cluster.pool(t);
    const table = cluster.newTable();
    const storage = new PostgresStorage({ pool, table, createTable: false });
    await assertUnsupported(storage, new RegExp(`^There is no table "${table}"\\.$`));
    await new PostgresStorage({ pool, table }).commit([]);
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
  });

  it('is used as soon as its schema exists, but the schema is not created', async (t) => {
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema: 'beds' });
    await assertUnsupported(storage, /^There is no schema for the table "beds"."plants"\.$/);
    await cluster.query('CREATE SCHEMA beds');
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
  });

  it('is not created again after it was renamed, because that would hide the loss of the plants', async (t) => {
    const table = cluster.newTable();
    const storage = new PostgresStorage({ pool: cluster.pool(t), table });
    await storage.commit([create(1n)]);
    await cluster.query(`ALTER TABLE "${table}" RENAME TO renamed`);
    await assert.rejects(storage.commit([create(2n)]));
    await assertUnsupported(storage, /^There is no table/);
    await cluster.query(`ALTER TABLE renamed RENAME TO "${table}"`);
    assert.deepEqual(await storage.commit([create(1n), create(2n)]), [false, true]);
  });

  it('is refused if the encoding of the database is not UTF8', async (t) => {
    await cluster.query("CREATE DATABASE latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    const pool = poolOf(t, { connectionString: cluster.url('latin1') });
    await assertUnsupported(new PostgresStorage({ pool }), /^The server_encoding is LATIN1, not UTF8\.$/);
    assert.deepEqual((await pool.query("SELECT FROM pg_tables WHERE tablename = 'plants'")).rows, []);
  });

  it('does not require the privilege to create tables if it exists', async (t) => {
    const table = cluster.newTable();
    await new PostgresStorage({ pool: cluster.pool(t), table }).commit([]);
    await cluster.query('CREATE ROLE gardener LOGIN');
    await cluster.query(`GRANT SELECT, INSERT, DELETE ON "${table}" TO gardener`);
    const pool = poolOf(t, { connectionString: cluster.url().replace('postgres:sesame', 'gardener') });
    const storage = new PostgresStorage({ pool, table });
    assert.deepEqual(await storage.commit([create(1n)]), [true]);
    assert.deepEqual(await storage.commit([remove(1n)]), [true]);
  });

  const key = 'PRIMARY KEY ("user", id)';
  const own = `("user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, ${key})`;
  const foreign: [what: string, definition: string][] = [
    ['with another column', own.replace('tag text', 'tag text, color text')],
    ['with ids of 32 bits', own.replace('bigint', 'integer')],
    ['with another collation', own.replace('COLLATE "C" ', '')],
    ['with names that can be NULL', own.replace('name text NOT NULL', 'name text')],
    ['with another primary key', own.replace(key, 'PRIMARY KEY (id, "user")')],
    ['that is partitioned', `${own} PARTITION BY HASH ("user")`],
  ];
  const makes: [what: string, make: (table: string) => string][] = [
    ...foreign.map(([what, definition]): (typeof makes)[0] => [what, (table) => `CREATE TABLE ${table} ${definition}`]),
    ['that is lost in a crash', (table) => `CREATE UNLOGGED TABLE ${table} ${own}`],
    ['that is a view', (table) => `CREATE VIEW ${table} AS SELECT 'ada' AS "user", 1::bigint AS id, '' AS name`],
  ];
  for (const [what, make] of makes) {
    it(`is refused if the package did not create it: one ${what}`, async (t) => {
      const table = cluster.newTable();
      await cluster.query(make(`"${table}"`));
      const rows = await cluster.query(`SELECT FROM "${table}"`);
      const storage = new PostgresStorage({ pool: cluster.pool(t), table });
      await assertUnsupported(storage, new RegExp(`did not create the table "${table}".*Rename that table, or choose`));
      assert.deepEqual(await cluster.query(`SELECT FROM "${table}"`), rows);
    });
  }
});
