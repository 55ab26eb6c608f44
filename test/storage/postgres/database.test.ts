import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, it } from 'node:test';
import type { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../../src/storage/postgres/statements.ts';
import { create, firstPage, remove } from '../../../src/testing/plants.ts';
import { callCommand } from '../../support/call-command.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { startModelClients } from '../../support/model-clients.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { scanAll } from '../../support/stored-plants.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { countFailures } from '../../support/two-servers.ts';

const cluster = await PostgresCluster.start({ after });

async function assertUnsupported(operation: () => Promise<unknown>, cause: RegExp): Promise<void> {
  await assert.rejects(operation, (error: PlantStoreError) => {
    assert.equal(error.code, 'storage_unsupported');
    assert.match((error.cause as Error).message, cause);
    return true;
  });
}

async function assertAllUnsupported(storage: PostgresStorage, cause: RegExp): Promise<void> {
  await assertUnsupported(() => storage.commit([create(1)]), cause);
  await assertUnsupported(() => storage.list('ada', firstPage), cause);
  await assertUnsupported(() => storage.scan()[Symbol.asyncIterator]().next(), cause);
}

/** Creates a table that contains ada's plant 1. */
async function newTable(t: HasAfter): Promise<{ table: string; storage: PostgresStorage }> {
  const table = cluster.newTable();
  const storage = new PostgresStorage({ pool: cluster.pool(t), table });
  assert.deepEqual(await storage.commit([create(1)]), [true]);
  return { table, storage };
}

it('PostgresStorage table › can have any name of up to 63 bytes, even with quotes', async (t) => {
  const [schema, table] = [`it's "${'é'.repeat(28)}"`, '"; DROP TABLE plants; -- $& = :table'];
  await cluster.query(`CREATE SCHEMA "${schema.replaceAll('"', '""')}"`);
  assert.deepEqual(await new PostgresStorage({ pool: cluster.pool(t), schema, table }).commit([create(1)]), [true]);
  const found = 'SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2';
  assert.equal((await cluster.query(found, [schema, table])).length, 1);
});

it('PostgresStorage table › is created once by ten servers that start at the same time', async (t) => {
  const connectionString = await cluster.makeDatabase();
  const pools = Array.from({ length: 10 }, () => cluster.pool(t, { connectionString, max: 1 }));
  await Promise.all(pools.map((pool) => pool.query('SELECT')));
  const storages = pools.map((pool) => new PostgresStorage({ pool }));
  const outcomes = await Promise.all(storages.map((storage, n) => storage.commit([create(0), create(n + 1)])));
  assert.equal(outcomes.flat().filter(Boolean).length, 11);
  assert.equal((await cluster.queryAt(connectionString, 'SELECT FROM public.plants')).length, 11);
});

it('PostgresStorage table › is created after its schema, unless createTable is false', async (t) => {
  const options = { pool: cluster.pool(t), schema: 'beds' };
  const [storage, other] = [new PostgresStorage(options), new PostgresStorage({ ...options, createTable: false })];
  await assertAllUnsupported(storage, /schema "beds" does not exist/);
  await cluster.query('CREATE SCHEMA beds');
  await assertAllUnsupported(other, /^There is no table "beds"."plants"\.$/);
  assert.deepEqual(await storage.commit([create(1)]), [true]);
  assert.deepEqual(await other.commit([create(1)]), [false]);
});

it('PostgresStorage table › is not created again after it or a column was renamed', async (t) => {
  const { table, storage } = await newTable(t);
  await cluster.query(`ALTER TABLE "${table}" RENAME TO renamed`);
  await assertAllUnsupported(storage, /relation .* does not exist/);
  await cluster.query(`ALTER TABLE renamed RENAME TO "${table}"`);
  await cluster.query(`ALTER TABLE "${table}" RENAME name TO title`);
  await assertAllUnsupported(storage, /column .* does not exist/);
  await cluster.query(`ALTER TABLE "${table}" RENAME title TO name`);
  assert.deepEqual(await storage.commit([create(1), create(2)]), [false, true]);
});

it('PostgresStorage table › never contains the text NULL for a missing tag if array_nulls is off', async (t) => {
  const pool = cluster.pool(t, { options: '-c array_nulls=off' });
  const storage = new PostgresStorage({ pool, table: cluster.newTable() });
  await assertUnsupported(() => storage.commit([create(1), create(2)]), /array_nulls is off/);
  assert.deepEqual(await storage.commit([create(1)]), [true]);
  assert.deepEqual((await storage.list('ada', firstPage)).plants, [{ id: 1n, name: '' }]);
});

it('PostgresStorage table › is not created in a database whose encoding is not UTF8', async (t) => {
  const connectionString = await cluster.makeDatabase("ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'");
  const storage = new PostgresStorage({ pool: cluster.pool(t, { connectionString }) });
  await assertAllUnsupported(storage, /^The server_encoding is LATIN1, not UTF8\.$/);
  const tables = "SELECT FROM pg_tables WHERE tablename = 'plants'";
  assert.deepEqual(await cluster.queryAt(connectionString, tables), []);
});

it('PostgresStorage table › is not written if synchronous_commit is off', async (t) => {
  const { table, storage } = await newTable(t);
  const pool = cluster.pool(t, { max: 1 });
  const other = new PostgresStorage({ pool, table });
  assert.deepEqual(await other.commit([create(1)]), [false]);
  const batches = [[create(2)], [remove(1)], [create(2), create(3)], [remove(1), remove(2)], [create(2), remove(1)]];
  for (const writes of batches) {
    // A session can change the setting at any time. The pool closes the connection after an error.
    await pool.query('SET synchronous_commit = off');
    await assertUnsupported(() => other.commit(writes), /synchronous_commit is off/);
  }
  assert.equal((await other.list('ada', firstPage)).plants.length, 1);
  assert.deepEqual(await storage.commit([remove(1)]), [true]);
});

it('PostgresStorage table › is refused if another role owns it, unless createTable is false', async (t) => {
  const { table } = await newTable(t);
  await cluster.query(`CREATE ROLE mallory; CREATE ROLE ann LOGIN;
    ALTER TABLE "${table}" OWNER TO mallory; GRANT SELECT, INSERT, DELETE ON "${table}" TO ann`);
  const pool = cluster.pool(t, { connectionString: cluster.url().replace('postgres:sesame', 'ann') });
  const open = (createTable = true): PostgresStorage => new PostgresStorage({ pool, table, createTable });
  await assertAllUnsupported(open(), new RegExp(`"${table}" belongs to the role mallory`));
  assert.deepEqual(await open(false).commit([remove(1), create(2)]), [true, true]);
  // Row-level security does not apply to the owner. Without a policy, it hides all rows from other roles.
  await cluster.query(`ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY`);
  await assertAllUnsupported(open(false), /row-level security/);
  await cluster.query('GRANT mallory TO ann');
  assert.deepEqual(await open().commit([create(2)]), [false]);
});

it('PostgresStorage table › is refused if it has other columns or another primary key, or is unlogged', async (t) => {
  for (const [change, cause] of Object.entries({
    'ADD color text': /tag text, color text/,
    'ALTER id TYPE integer': /id int4/,
    'ALTER "user" TYPE text COLLATE "default"': /user text NOT/,
    'ALTER name DROP NOT NULL': /name text, /,
    'DROP CONSTRAINT plants_pkey, ADD PRIMARY KEY (id, "user")': /KEY \(id, user\)/,
    // A crash would empty an unlogged table.
    'SET UNLOGGED': /not a permanent table/,
  })) {
    await cluster.query('DROP SCHEMA IF EXISTS changed CASCADE; CREATE SCHEMA changed');
    const options = { pool: cluster.pool(t), schema: 'changed' };
    await new PostgresStorage(options).commit([create(1)]);
    await cluster.query(`ALTER TABLE changed.plants ${change}`);
    await assertAllUnsupported(new PostgresStorage(options), cause);
  }
});

function startServices(t: HasAfter, connectionString: string): Promise<Service[]> {
  const storages = [1, 2].map(() => new PostgresStorage({ pool: cluster.pool(t, { connectionString, max: 4 }) }));
  return Promise.all(storages.map((storage) => startService(t, { storage })));
}

it('two services are linearizable while all PostgreSQL backends are terminated repeatedly', async (t) => {
  const services = await startServices(t, await cluster.makeDatabase());
  let responses = 0;
  const failures = await countFailures(services, async () => {
    if (++responses % 20 !== 0) return;
    await cluster.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'plants%'");
  });
  assert.ok(failures > 0, 'No request failed.');
});

it('a synchronous standby refuses lists, and has every acknowledged write when it is promoted', async (t) => {
  const standby = await cluster.startSynchronousStandby(t);
  const ofPrimary = new PostgresStorage({ pool: cluster.pool(t) });
  const ofStandby = new PostgresStorage({ pool: standby.pool(t) });
  const service = await startService(t, { storage: ofStandby });
  await ofPrimary.commit([create(1, 'eve')]);
  await eventuallyEqual(async () => (await standby.query('SELECT FROM plants')).length, 1);
  await standby.query('SELECT pg_wal_replay_pause()');
  await ofPrimary.commit([create(2, 'eve')]);
  for (const target of ['/plants', '/plants?limit=5', '/plants?after=2']) {
    assert.equal((await service.call('GET', target)).status, 503);
  }
  for (const users of [['eve'], ['nobody'], ['eve', 'nobody']]) {
    const lists = users.map((user) => ofStandby.list(user, { after: undefined, limit: 20 }));
    await Promise.all(lists.map((list) => assert.rejects(list, /The database is a standby/)));
  }
  // An export does not need the latest plants.
  assert.equal((await scanAll(ofStandby)).length, 1);
  const exported = await callCommand(['export', '--storage', standby.url()], { cwd: tmpdir(), env: {} });
  assert.deepEqual([exported.code, exported.stdout.split('\n').length], [0, 2], exported.stderr);
  await standby.query('SELECT pg_wal_replay_resume()');
  // Texts with a separator are read a second time, possibly from another server. This statement has three parameters.
  await ofPrimary.commit([create(3, 'eve', '\x7f')]);
  const [toPrimary, toStandby] = [cluster.pool(t), standby.pool(t)];
  const query: PostgresPool['query'] = (each) => (each.values.length === 3 ? toStandby : toPrimary).query(each);
  await assert.rejects(new PostgresStorage({ pool: { query } }).list('eve', firstPage), /The database is a standby/);

  const proxy = await startTcpProxy(t, cluster.port);
  const services = await startServices(t, cluster.url().replace(`:${cluster.port}`, `:${proxy.port}`));
  const tokens = new Map(['ada', 'bob'].map((user) => [user, user]));
  const load = startModelClients({ urls: services.map(({ url }) => url), tokens, clients: 16 });
  t.after(() => load.stop());
  await load.acknowledgeMore(200);
  await cluster.kill();
  await load.failMore(1);
  await standby.query('SELECT pg_promote()');
  proxy.pointTo(standby.port);
  await load.acknowledgeMore(200);
  await load.assertNothingLost();
});
