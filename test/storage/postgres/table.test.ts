import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Client } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { eventually } from '../../support/eventually.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { scanAll } from '../../support/stored-plants.ts';
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

  it('is refused if another role that this role is not a member of owns it, unless createTable is false', async (t) => {
    const table = cluster.newTable();
    await cluster.query('CREATE ROLE mallory; CREATE ROLE ann LOGIN');
    await new PostgresStorage({ pool: cluster.pool(t), table }).commit([create(1n)]);
    await cluster.query(`GRANT SELECT, INSERT, DELETE ON "${table}" TO ann; ALTER TABLE "${table}" OWNER TO mallory`);
    const pool = poolOf(t, { connectionString: cluster.url().replace('postgres:sesame', 'ann') });
    await assertUnsupported(new PostgresStorage({ pool, table }), new RegExp(`"${table}" belongs to the role mallory`));
    const vouchedFor = new PostgresStorage({ pool, table, createTable: false });
    assert.deepEqual(await vouchedFor.commit([create(1n)]), [false]);
    await cluster.query('GRANT mallory TO ann');
    assert.deepEqual(await new PostgresStorage({ pool, table }).commit([create(1n)]), [false]);
  });

  it('is refused if synchronous_commit is off, because a crash would lose acknowledged plants', async (t) => {
    const pool = cluster.pool(t, { options: '-c synchronous_commit=off' });
    const storage = new PostgresStorage({ pool, table: cluster.newTable() });
    await assertUnsupported(storage, /^synchronous_commit is off/);
  });

  const key = 'PRIMARY KEY ("user", id)';
  const own = `("user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, ${key})`;
  const refused: [what: string, make: (table: string) => string][] = [
    ['with another column', (table) => `CREATE TABLE ${table} ${own.replace('tag text', 'tag text, color text')}`],
    [
      'with a generated column',
      (table) => `CREATE TABLE ${table} ${own.replace('tag text', `tag text GENERATED ALWAYS AS ('x') STORED`)}`,
    ],
    ['with ids of 32 bits', (table) => `CREATE TABLE ${table} ${own.replace('bigint', 'integer')}`],
    ['with another collation', (table) => `CREATE TABLE ${table} ${own.replace('COLLATE "C" ', '')}`],
    [
      'with names that can be NULL',
      (table) => `CREATE TABLE ${table} ${own.replace('name text NOT NULL', 'name text')}`,
    ],
    ['with another primary key', (table) => `CREATE TABLE ${table} ${own.replace(key, 'PRIMARY KEY (id, "user")')}`],
    ['that is partitioned', (table) => `CREATE TABLE ${table} ${own} PARTITION BY HASH ("user")`],
    [
      'that is in fact a view',
      (table) => `CREATE VIEW ${table} AS SELECT 'ada' AS "user", 1::bigint AS id, '' AS name`,
    ],
  ];
  for (const [what, make] of refused) {
    it(`is refused if it is a table ${what}`, async (t) => {
      const table = cluster.newTable();
      await cluster.query(make(`"${table}"`));
      const rows = await cluster.query(`SELECT FROM "${table}"`);
      const storage = new PostgresStorage({ pool: cluster.pool(t), table });
      await assertUnsupported(storage, new RegExp(`"${table}" is not as Plant Store creates it .*choose another name`));
      assert.deepEqual(await cluster.query(`SELECT FROM "${table}"`), rows);
    });
  }

  it('can have a second index of its primary key, as during REINDEX CONCURRENTLY', async (t) => {
    const table = cluster.newTable();
    await new PostgresStorage({ pool: cluster.pool(t), table }).commit([create(1n)]);
    await cluster.query(`CREATE UNIQUE INDEX copy ON "${table}" ("user", id)`);
    assert.deepEqual(await new PostgresStorage({ pool: cluster.pool(t), table }).commit([create(1n)]), [false]);
  });
});

describe('table of a PostgresStorage that is changed while a server runs', { concurrency: true }, () => {
  const raise = "RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE data_corrupted; END'";
  const changes: [what: string, change: (table: string) => string, name: RegExp][] = [
    ['a CHECK constraint', (table) => `ALTER TABLE ${table} ADD CHECK (name <> 'weed')`, /CHECK \(\(name <> 'weed'/],
    [
      'a foreign key of another table',
      (table) => `CREATE TABLE pots (owner text, plant bigint, FOREIGN KEY (owner, plant) REFERENCES ${table})`,
      /FOREIGN KEY \(owner, plant\)/,
    ],
    ['an index, which rejects long names', (table) => `CREATE INDEX by_name ON ${table} (name)`, /INDEX by_name/],
    [
      'a trigger',
      (table) => `CREATE FUNCTION fault() ${raise};
        CREATE TRIGGER fault BEFORE DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION fault()`,
      /TRIGGER fault BEFORE DELETE/,
    ],
    ['a rule', (table) => `CREATE RULE nothing AS ON DELETE TO ${table} DO INSTEAD NOTHING`, /RULE nothing/],
    ['row security', (table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`, /ROW LEVEL SECURITY/],
    ['a table that inherits from it', (table) => `CREATE TABLE beds () INHERITS (${table})`, /INHERITS/],
    ['UNLOGGED', (table) => `ALTER TABLE ${table} SET UNLOGGED`, /not a permanent table/],
  ];
  for (const [what, change, name] of changes) {
    it(`is refused, and the cause names the change: ${what}`, async (t) => {
      const [connectionString, table] = [await cluster.makeDatabase(), 'plants'];
      const storage = new PostgresStorage({ pool: poolOf(t, { connectionString }), table });
      await storage.commit([create(1n)]);
      await cluster.queryAt(connectionString, change(table));
      await eventually(() => assertUnsupported(storage, /^The table "plants" is not as Plant Store creates it/));
      await assertUnsupported(storage, name);
    });
  }
});

describe('functions that other roles created in a schema of the search_path', () => {
  const functions = `octet_length(text); int8send(bigint); encode(bytea, text); to_regclass(text); unnest(text[]);
    unnest(bigint[]); unnest(integer[]); current_setting(text); pg_is_in_recovery(); quote_ident(text);
    concat_ws(text, text, text, text, text, text); quote_ident(name); format_type(oid, integer);
    pg_get_constraintdef(oid); pg_get_indexdef(oid); pg_get_triggerdef(oid); pg_has_role(oid, text);
    pg_relation_size(oid); pg_relation_size(regclass); equal(oid, regclass)`.split(/;\s*/);
  const aggregates = ['string_agg(text, text)', 'string_agg(bytea, bytea)', 'sum(integer)'];
  const fault = "RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION $$called$$; END'";
  const hostile = [
    ...functions.map((signature) => `CREATE FUNCTION public.${signature} ${fault}`),
    ...aggregates.flatMap((signature) => [
      `CREATE FUNCTION public.next_${signature.replace('(', '(bigint, ')} ${fault}`,
      `CREATE AGGREGATE public.${signature} (SFUNC = public.next_${signature.split('(')[0] ?? ''}, STYPE = bigint)`,
    ]),
    'CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = public.equal)',
  ];

  for (const path of ['public', 'public, pg_catalog']) {
    it(`are not called if the search_path is ${path}`, async (t) => {
      const connectionString = await cluster.makeDatabase();
      await new PostgresStorage({ pool: poolOf(t, { connectionString }) }).commit([create(1n)]);
      for (const statement of hostile) await cluster.queryAt(connectionString, statement);
      const pool = poolOf(t, { connectionString, options: `-c search_path=${path.replace(' ', '')}` });
      const storage = new PostgresStorage({ pool });
      assert.deepEqual(await storage.commit([create(1n)]), [false]);
      assert.deepEqual(await storage.commit([create(2n), create(3n), create(4n)]), [true, true, true]);
      assert.deepEqual(await storage.commit([remove(2n), remove(9n)]), [true, false]);
      assert.deepEqual(await storage.commit([remove(3n), create(4n), create(5n, 'eve', '\x7f')]), [true, false, true]);
      const listed = await Promise.all(['ada', 'eve', 'bob'].map((user) => storage.list(user, everything)));
      const listedIds = listed.map(({ plants }) => plants.map(({ id }) => id));
      assert.deepEqual(listedIds, [[1n, 4n], [5n], []]);
      assert.equal((await storage.list('ada', everything)).plants.length, 2);
      assert.equal((await scanAll(storage)).length, 3);
    });
  }
});
