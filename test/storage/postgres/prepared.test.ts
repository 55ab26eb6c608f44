import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pool } from 'pg';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { withPreparedStatements } from '../../../src/storage/postgres/prepared.ts';
import { testStorageAdapter } from '../../../src/kits/adapter-suite/test-storage-adapter.ts';
import { failure } from '../../support/observed-pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create, remove } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

testStorageAdapter('PostgresStorage with prepared statements', {
  createLocation: (t) => {
    const schema = cluster.newSchemaName();
    const open = (): PostgresStorage =>
      new PostgresStorage({ pool: cluster.pool(t, { max: 4 }), schema, preparedStatements: true });
    return { open, reopen: open };
  },
  persistent: true,
});

interface Opened {
  readonly pool: Pool;
  readonly storage: PostgresStorage;
}

/** Opens a storage adapter with one connection, so that a test can inspect the session, and creates a plant. */
async function open(t: TestContext, preparedStatements: boolean): Promise<Opened> {
  const pool = cluster.pool(t, { max: 1 });
  const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName(), preparedStatements });
  await storage.commit([create(1n, 'ada', 'Fern')]);
  return { pool, storage };
}

/** Reads plants in each of the ways that use a statement of their own. Returns the names of Ada's plants. */
async function readAll({ storage }: Opened): Promise<string[]> {
  const range = { after: undefined, limit: 10 };
  const [ada, bob] = ['ada', 'bob'].map((user) => ({ user, ...range }));
  assert.ok(ada && bob);
  const { plants } = await storage.list('ada', range);
  // One small page is read with the statement of `list`, and two pages with a statement of their own.
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

/** Returns the statements that are prepared in the session. */
async function prepared({ pool }: Opened): Promise<string[]> {
  const { rows } = await pool.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements');
  return rows.map(({ statement }) => statement);
}

describe('PostgresStorage with preparedStatements', () => {
  it('prepares each statement that reads plants once', async (t) => {
    const opened = await open(t, true);
    for (let repetition = 0; repetition < 3; repetition++) assert.deepEqual(await readAll(opened), ['Fern']);
    const statements = await prepared(opened);
    assert.equal(statements.length, 3);
    assert.equal(statements.filter((text) => text.includes('LATERAL')).length, 1);
  });

  it('does not prepare the statements that write', async (t) => {
    const opened = await open(t, true);
    await opened.storage.commit([remove(1n, 'ada'), create(2n, 'ada', 'Moss')]);
    await opened.storage.commit([remove(2n, 'ada')]);
    assert.deepEqual(await prepared(opened), []);
  });

  it('does not prepare statements by default', async (t) => {
    const opened = await open(t, false);
    await readAll(opened);
    assert.deepEqual(await prepared(opened), []);
  });

  it('reads without prepared statements after the session has lost one (26000)', async (t) => {
    const opened = await open(t, true);
    await opened.storage.list('ada', { after: undefined, limit: 10 });
    // A pooler in transaction mode has the same effect if it continues the session on another connection.
    await opened.pool.query('DEALLOCATE ALL');
    assert.deepEqual(await readAll(opened), ['Fern']);
    assert.deepEqual(await prepared(opened), []);
  });

  it('reads without prepared statements if the session already has one of the same name (42P05)', async (t) => {
    const opened = await open(t, true);
    await readAll(opened);
    // A pooler in transaction mode has the same effect if it uses one connection for the sessions of several clients.
    const client = await opened.pool.connect();
    Object.assign((client as unknown as { connection: object }).connection, { parsedStatements: {} });
    client.release();
    assert.deepEqual(await readAll(opened), ['Fern']);
  });

  it('reads without prepared statements after the type of a column has changed (0A000)', async (t) => {
    const pool = cluster.pool(t, { max: 1 });
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool, schema, preparedStatements: true });
    await storage.commit([create(1n, 'ada', 'Fern')]);
    assert.deepEqual(await readAll({ pool, storage }), ['Fern']);
    await pool.query(`ALTER TABLE "${schema}".plants ALTER "user" TYPE varchar(255) COLLATE "C"`);
    assert.deepEqual(await readAll({ pool, storage }), ['Fern']);
  });

  it('rejects with any other error of a statement, and continues to prepare', async () => {
    const names: string[] = [];
    const query = async (statement: unknown): Promise<never> => {
      const { name, text, values } = statement as { name: string; text: string; values: unknown[] };
      assert.deepEqual([text, values], ['SELECT $1', ['a']]);
      names.push(name);
      throw failure('57014');
    };
    const pool = withPreparedStatements({ query });
    for (let call = 0; call < 2; call++) await assert.rejects(pool.query('SELECT $1', ['a']), { code: '57014' });
    const [first = '', second] = names;
    assert.match(first, /^plant_store_[\da-f]{32}$/);
    assert.equal(second, first);
  });
});
