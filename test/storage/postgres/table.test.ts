import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { Client } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { eventually } from '../../support/eventually.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { scanAll } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { create, firstPage, remove } from '../../support/writes.ts';

const cluster = await PostgresCluster.start();
after(() => cluster.remove());

/** Asserts that each operation is rejected with `storage_unsupported` and with this cause. */
async function assertUnsupported(storage: PostgresStorage, cause: RegExp): Promise<void> {
  const operations = [
    () => storage.commit([create(1)]),
    () => storage.list('ada', firstPage),
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

/** Creates a table that contains ada's plant 1. */
async function newTable(t: HasAfter): Promise<{ table: string; storage: PostgresStorage }> {
  const table = cluster.newTable();
  const storage = new PostgresStorage({ pool: cluster.pool(t), table });
  assert.deepEqual(await storage.commit([create(1)]), [true]);
  return { table, storage };
}

it('PostgresStorage table › can have any name of 63 bytes, even with quotes', async (t) => {
  const [schema, table] = [`it's "${'é'.repeat(28)}"`, '"; DROP TABLE plants; --'];
  await cluster.query(`CREATE SCHEMA "${schema.replaceAll('"', '""')}"`);
  await new PostgresStorage({ pool: cluster.pool(t), schema, table }).commit([]);
  const found = 'SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2';
  assert.equal((await cluster.query(found, [schema, table])).length, 1);
});

it('PostgresStorage table › is created once by ten servers that start at the same time', async (t) => {
  const connectionString = await cluster.makeDatabase();
  const pools = Array.from({ length: 10 }, () => poolOf(t, { connectionString, max: 1 }));
  await Promise.all(pools.map((pool) => pool.query('SELECT')));
  const storages = pools.map((pool) => new PostgresStorage({ pool }));
  const outcomes = await Promise.all(storages.map((storage, n) => storage.commit([create(0), create(n + 1)])));
  assert.equal(outcomes.flat().filter(Boolean).length, 11);
  assert.equal((await cluster.queryAt(connectionString, 'SELECT FROM public.plants')).length, 11);
});

it('PostgresStorage table › is checked and used while another transaction writes to it', async (t) => {
  const { table } = await newTable(t);
  const busy = new Client({ connectionString: cluster.url() });
  await busy.connect();
  t.after(() => busy.end());
  // Writes take this lock. ALTER TABLE would wait for it.
  await busy.query(`BEGIN; LOCK TABLE "${table}" IN ROW EXCLUSIVE MODE`);
  const pool = cluster.pool(t, { lock_timeout: 5000 });
  assert.deepEqual(await new PostgresStorage({ pool, table }).commit([create(2)]), [true]);
});

it('PostgresStorage table › is used once its schema exists or, if createTable is false, the table', async (t) => {
  const options = { pool: cluster.pool(t), schema: 'beds' };
  const [storage, other] = [new PostgresStorage(options), new PostgresStorage({ ...options, createTable: false })];
  await assertUnsupported(storage, /^There is no schema for the table "beds"."plants"\.$/);
  await cluster.query('CREATE SCHEMA beds');
  await assertUnsupported(other, /^There is no table "beds"."plants"\.$/);
  assert.deepEqual(await storage.commit([create(1)]), [true]);
  assert.deepEqual(await other.commit([create(1)]), [false]);
});

it('PostgresStorage table › is not created again after a rename, which would hide the loss', async (t) => {
  const { table, storage } = await newTable(t);
  await cluster.query(`ALTER TABLE "${table}" RENAME TO renamed`);
  await assert.rejects(storage.commit([create(2)]));
  await assertUnsupported(storage, /^There is no table/);
  await cluster.query(`ALTER TABLE renamed RENAME TO "${table}"`);
  assert.deepEqual(await storage.commit([create(1), create(2)]), [false, true]);
});

it('PostgresStorage table › is not created in a database whose encoding is not UTF8', async (t) => {
  const connectionString = await cluster.makeDatabase("ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'");
  const storage = new PostgresStorage({ pool: poolOf(t, { connectionString }) });
  await assertUnsupported(storage, /^The server_encoding is LATIN1, not UTF8\.$/);
  const tables = "SELECT FROM pg_tables WHERE tablename = 'plants'";
  assert.deepEqual(await cluster.queryAt(connectionString, tables), []);
});

it('PostgresStorage table › is not used with synchronous_commit off, because a crash would lose plants', async (t) => {
  const pool = cluster.pool(t, { options: '-c synchronous_commit=off' });
  const storage = new PostgresStorage({ pool, table: cluster.newTable() });
  await assertUnsupported(storage, /^synchronous_commit is off/);
});

it('PostgresStorage table › is used with three privileges, and refused if a stranger owns it', async (t) => {
  const { table } = await newTable(t);
  await cluster.query(`CREATE ROLE mallory; CREATE ROLE ann LOGIN;
    GRANT SELECT, INSERT, DELETE ON "${table}" TO ann`);
  const pool = poolOf(t, { connectionString: cluster.url().replace('postgres:sesame', 'ann') });
  const open = (createTable = true): PostgresStorage => new PostgresStorage({ pool, table, createTable });
  assert.deepEqual(await open().commit([remove(1)]), [true]);
  await cluster.query(`ALTER TABLE "${table}" OWNER TO mallory`);
  await assertUnsupported(open(), new RegExp(`"${table}" belongs to the role mallory`));
  assert.deepEqual(await open(false).commit([create(1)]), [true]);
  await cluster.query('GRANT mallory TO ann');
  assert.deepEqual(await open().commit([create(1)]), [false]);
});

it('PostgresStorage table › can have a second index of its primary key, as during REINDEX CONCURRENTLY', async (t) => {
  const { table } = await newTable(t);
  await cluster.query(`CREATE UNIQUE INDEX copy ON "${table}" ("user", id)`);
  assert.deepEqual(await new PostgresStorage({ pool: cluster.pool(t), table }).commit([create(1)]), [false]);
});

it('PostgresStorage table › is refused after a change while the server runs', async (t) => {
  const { table, storage } = await newTable(t);
  await cluster.query(`ALTER TABLE "${table}" SET UNLOGGED`);
  await eventually(() => assertUnsupported(storage, /not a permanent table/));
});

const alter = 'ALTER TABLE beds.plants';
const onDelete = 'BEFORE DELETE ON beds.plants FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()';
const changes = [
  { what: 'another column', sql: `${alter} ADD color text`, cause: /tag text, color text/ },
  {
    what: 'a generated column',
    sql: `${alter} DROP tag, ADD tag text GENERATED ALWAYS AS ('x') STORED`,
    cause: /tag text GENERATED/,
  },
  { what: 'ids of 32 bits', sql: `${alter} ALTER id TYPE integer`, cause: /id integer/ },
  { what: 'another collation', sql: `${alter} ALTER "user" TYPE text COLLATE "default"`, cause: /"user" text NOT/ },
  { what: 'names that can be NULL', sql: `${alter} ALTER name DROP NOT NULL`, cause: /name text, / },
  {
    what: 'another primary key',
    sql: `${alter} DROP CONSTRAINT plants_pkey, ADD PRIMARY KEY (id, "user")`,
    cause: /PRIMARY KEY \(id, "user"\)/,
  },
  {
    what: 'partitions',
    sql: `${alter} RENAME TO former;
      CREATE TABLE beds.plants (LIKE beds.former INCLUDING ALL) PARTITION BY HASH ("user")`,
    cause: /not a permanent table/,
  },
  {
    what: 'a foreign key of another table',
    sql: 'CREATE TABLE beds.pots (owner text, plant bigint, FOREIGN KEY (owner, plant) REFERENCES beds.plants)',
    cause: /FOREIGN KEY \(owner, plant\)/,
  },
  { what: 'an index, which rejects long names', sql: 'CREATE INDEX by_name ON beds.plants (name)', cause: /by_name/ },
  { what: 'a trigger', sql: `CREATE TRIGGER fault ${onDelete}`, cause: /TRIGGER fault BEFORE DELETE/ },
  { what: 'a rule', sql: 'CREATE RULE no AS ON DELETE TO beds.plants DO INSTEAD NOTHING', cause: /RULE no/ },
  { what: 'row security', sql: `${alter} ENABLE ROW LEVEL SECURITY`, cause: /ROW LEVEL SECURITY/ },
  { what: 'a child table', sql: 'CREATE TABLE beds.child () INHERITS (beds.plants)', cause: /INHERITS/ },
];
for (const { what, sql, cause } of changes) {
  it(`PostgresStorage table › is refused with ${what}, and the cause names the change`, async (t) => {
    await cluster.query('DROP SCHEMA IF EXISTS beds CASCADE; CREATE SCHEMA beds');
    const options = { pool: cluster.pool(t), schema: 'beds' };
    await new PostgresStorage(options).commit([create(1)]);
    await cluster.query(sql);
    await assertUnsupported(new PostgresStorage(options), cause);
  });
}

/** Overloads of what the statements use, in a schema of the `search_path`. They fail if they are called. */
const hostile = [
  ...`octet_length(text); int8send(bigint); encode(bytea, text); to_regclass(text); unnest(text[]); unnest(bigint[]);
    unnest(integer[]); current_setting(text); pg_is_in_recovery(); quote_ident(text); quote_ident(name);
    concat_ws(text, text, text, text, text, text); format_type(oid, integer); pg_get_constraintdef(oid);
    pg_get_indexdef(oid); pg_get_triggerdef(oid); pg_has_role(oid, text); pg_relation_size(oid);
    pg_relation_size(regclass); next(bigint, text, text); next(bigint, bytea, bytea); next(bigint, integer);
    wrong(oid, regclass); wrong(text, text); wrong(bigint, bigint); wrong(integer, integer)`
    .split(/;\s*/)
    .map((signature) => `FUNCTION ${signature} RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE data_corrupted; END'`),
  ...['string_agg(text, text)', 'string_agg(bytea, bytea)', 'sum(integer)'].map(
    (signature) => `AGGREGATE ${signature} (SFUNC = next, STYPE = bigint)`,
  ),
  ...'=:oid,regclass =:text,text >:text,text ||:text,text =:bigint,bigint >=:bigint,bigint +:integer,integer'
    .split(' ')
    .map((operator) => operator.split(/[:,]/))
    .map(([sign, left, right]) => `OPERATOR ${sign} (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = wrong)`),
  'DOMAIN text AS varchar(1)',
];

it('PostgresStorage does not use functions, operators or types that other roles created in the search_path', async (t) => {
  const connectionString = await cluster.makeDatabase();
  await cluster.queryAt(connectionString, hostile.map((object) => `CREATE ${object};`).join('\n'));
  for (const path of ['public', 'public,pg_catalog']) {
    const pool = poolOf(t, { connectionString, options: `-c search_path=${path}` });
    const storage = new PostgresStorage({ pool, table: path });
    assert.deepEqual(await storage.commit([create(1)]), [true]);
    assert.deepEqual(await storage.commit([create(2), create(3), create(4)]), [true, true, true]);
    assert.deepEqual(await storage.commit([remove(2), remove(9)]), [true, false]);
    assert.deepEqual(await storage.commit([remove(3), create(4), create(5, 'eve', '\x7f')]), [true, false, true]);
    const listed = await Promise.all(['ada', 'eve', 'bob'].map((user) => storage.list(user, firstPage)));
    const listedIds = listed.map(({ plants }) => plants.map(({ id }) => id));
    assert.deepEqual(listedIds, [[1n, 4n], [5n], []]);
    assert.equal((await storage.list('ada', firstPage)).plants.length, 2);
    assert.equal((await scanAll(storage)).length, 3);
  }
});
