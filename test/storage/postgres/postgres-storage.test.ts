import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { after, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { PlantStore } from '../../../src/index.ts';
import type { ListRange, PlantPage } from '../../../src/index.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import type { PostgresPool } from '../../../src/storage/postgres/statements.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { create, createEach, firstPage, remove } from '../../../src/testing/plants.ts';
import { expectFullPages } from '../../support/page-size.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { scanAll } from '../../support/stored-plants.ts';

const cluster = await PostgresCluster.start({ after });

type Query = PostgresPool['query'];

/** Opens a storage with a new table. `intercept` can observe each statement, or fail in place of `run`. */
function open(t: TestContext, intercept = (statement: Parameters<Query>[0], run: Query) => run(statement)) {
  const pool = cluster.pool(t, { max: 20 });
  const query: Query = (statement) => intercept(statement, (each) => pool.query(each));
  return new PostgresStorage({ pool: { query }, table: cluster.newTable() });
}

const createFail =
  "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE data_corrupted; END'";

/** Overloads of functions, operators and types that the statements use. They fail if they are called. */
const hostile = [
  ...`octet_length(text) int8send(bigint) encode(bytea,text) to_regclass(text) unnest(text[]) unnest(bigint[])
    unnest(integer[]) current_setting(text) pg_is_in_recovery() concat_ws(text,text,text,text) replace(text,text,text)
    pg_get_constraintdef(oid) pg_has_role(oid,text) row_security_active(oid) next(bigint,text,text)
    next(bigint,bytea,bytea) next(bigint,integer) wrong(oid,regclass) wrong(text,text) wrong(bigint,bigint)
    wrong(integer,integer)`
    .split(/\s+/)
    .map((signature) => `FUNCTION ${signature} RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE data_corrupted; END'`),
  ...['string_agg(text, text)', 'string_agg(bytea, bytea)', 'sum(integer)'].map(
    (signature) => `AGGREGATE ${signature} (SFUNC = next, STYPE = bigint)`,
  ),
  ...['= oid,regclass', '= text,text', '> text,text', '|| text,text', '= bigint,bigint', '+ integer,integer']
    .map((operator) => operator.split(/[ ,]/))
    .map(([sign, left, right]) => `OPERATOR ${sign} (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = wrong)`),
  'DOMAIN text AS varchar(1)',
];
await cluster.query(
  `CREATE SCHEMA hostile; SET search_path = hostile; ${hostile.map((object) => `CREATE ${object}`).join(';')}`,
);

/** Parses the type text (oid 25) as `pg` does, and all other types differently, as an application might. */
const getTypeParser = (oid: number) => (value: string) => (oid === 25 ? value : { parsed: value });

testStorageAdapter('PostgresStorage', {
  createLocation: (t) => {
    const table = cluster.newTable();
    const options = '-c search_path=hostile,pg_catalog -c quote_all_identifiers=on';
    const config = { max: 4, options, types: { getTypeParser } };
    const reopen = (): PostgresStorage => new PostgresStorage({ pool: cluster.pool(t, config), table });
    return { open: reopen, reopen, table };
  },
  shared: true,
  makeWriteFail: ({ table }, { kind, user, id }) => {
    const [event, row] = kind === 'create' ? ['INSERT', 'NEW'] : ['DELETE', 'OLD'];
    return cluster.query(`${createFail}; CREATE TRIGGER fail BEFORE ${event} ON "${table}" FOR EACH ROW
      WHEN (${row}."user" = '${user}' AND ${row}.id = ${id}) EXECUTE FUNCTION fail()`);
  },
});

it('pages of a PostgresStorage end at 256 KiB of JSON', async (t) => {
  await expectFullPages(open(t));
});

it('lists of a PostgresStorage return any mix of long texts and separators, even concurrently', async (t) => {
  const storage = open(t);
  const pieces = ['\x7f,', '\x7f:', '\x7f;', '\x7f!', '\x7f', 'x'.repeat(3000), 'a', '\u{1F33F}', '\n', '"\\'];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(''));
  const fields = fc.array(fc.record({ name: text, tag: text }, { requiredKeys: ['name'] }), { maxLength: 4 });
  let users = 0;
  const property = fc.asyncProperty(fields, async (all) => {
    const user = `user ${users++}`;
    const plants = all.map((each, n) => ({ id: BigInt(n), ...each }));
    await storage.commit(createEach(plants.map((plant) => ({ user, plant }))));
    // A limit above 1000 breaks the contract, but must not hang.
    const ranges = [1, 2, 3, 1000, 5000].map((limit, n) => ({ after: n % 2 === 0 ? undefined : 0n, limit }));
    const list = (range: ListRange): Promise<PlantPage> => storage.list(user, range);
    const expected = ranges.map(({ after, limit }) => {
      const rest = plants.slice(after === undefined ? 0 : 1);
      return { plants: rest.slice(0, limit), hasMore: rest.length > limit };
    });
    assert.deepEqual(await Promise.all(ranges.map(list)), expected);
    assert.deepEqual(await list({ after: undefined, limit: 3 }), expected[2]);
  });
  await fc.assert(property, { numRuns: 80 });
});

it('PostgresStorage commits batches of two servers in opposite orders without deadlocks', async (t) => {
  const connectionString = await cluster.makeDatabase();
  const storages = [1, 2].map(() => new PostgresStorage({ pool: cluster.pool(t, { connectionString }) }));
  for (const storage of storages) await storage.commit([create(-1), create(-2)]);
  const ids = Array.from({ length: 2000 }, (_, n) => n);
  for (const write of [create, remove, create, remove]) {
    const [first, second] = [ids, ids.toReversed()].map((order) => order.map((id) => write(id)));
    const [some, others] = await Promise.all([storages[0]?.commit(first ?? []), storages[1]?.commit(second ?? [])]);
    const successes = ids.map((id) => Number(some?.[id]) + Number(others?.at(-1 - id)));
    assert.deepEqual(new Set(successes), new Set([1]));
  }
  // The servers would recover from a deadlock, but PostgreSQL notices it only after a second.
  const statistics = 'SELECT deadlocks::integer AS count FROM pg_stat_database WHERE datname = current_database()';
  assert.deepEqual(await cluster.queryAt(connectionString, statistics), [{ count: 0 }]);
});

it('PostgresStorage retries a rolled-back statement at most five times, and no other statement', async (t) => {
  let [code, failures] = ['', 0];
  const storage = open(t, async (statement, run) => {
    if (!statement.text.startsWith('INSERT') || failures-- <= 0) return run(statement);
    throw Object.assign(new Error(`failed with ${code}`), { code });
  });
  for (code of ['40001', '40P01']) {
    failures = 5;
    assert.deepEqual(await storage.commit([create(1)]), [code === '40001']);
    failures = 6;
    await assert.rejects(storage.commit([create(2)]), { code });
  }
  for (code of ['08006', '40003', '23514', 'ECONNRESET']) {
    failures = 1;
    await assert.rejects(storage.commit([create(2)]), { code });
  }
});

it('PostgresStorage stops using prepared statements after a connection pooler has lost one', async (t) => {
  const pool = cluster.pool(t, { max: 1 });
  const storage = new PostgresStorage({ pool, table: cluster.newTable() });
  for (const id of [1, 2, 3]) {
    assert.deepEqual(await storage.commit([create(id)]), [true]);
    await pool.query('DEALLOCATE ALL');
  }
  assert.equal((await storage.list('ada', firstPage)).plants.length, 3);
  assert.deepEqual((await pool.query('SELECT FROM pg_prepared_statements')).rows, []);
});

it('PostgresStorage waits for lists in progress when it is closed, and does not end the pool', async (t) => {
  const pool = cluster.pool(t);
  const storage = new PostgresStorage({ pool, table: cluster.newTable() });
  await storage.commit(Array.from({ length: 1000 }, (_, id) => create(id)));
  const settled: number[] = [];
  for (let n = 0; n < 30; n++) void storage.list('ada', firstPage).then(({ plants }) => settled.push(plants.length));
  await storage.close();
  // The last list can settle in the same tick as `close`.
  await new Promise(setImmediate);
  assert.deepEqual(settled, Array<number>(30).fill(1000));
  assert.equal((await pool.query('SELECT')).rowCount, 1);
});

// Bounds the memory of results. docs/postgresql.md says that lists use up to four connections.
it('PostgresStorage runs at most four list statements at a time, each of which returns at most 2 MiB', async (t) => {
  let [running, most, mostBytes] = [0, 0, 0];
  const storage = open(t, async (statement, run) => {
    most = Math.max(most, ++running);
    const { rows, rowCount } = await run(statement).finally(() => running--);
    const bytes = Buffer.byteLength(rows.flatMap((row) => Object.values(row as Record<string, unknown>)).join(''));
    mostBytes = Math.max(mostBytes, bytes);
    return { rows, rowCount };
  });
  // Six of the first names fill a page. Names that are long or contain U+007F are read by a second statement.
  const names = ['x'.repeat(40_000), 'Fern', '\x7f', 'x'.repeat(5000)];
  const users = Array.from({ length: 150 }, (_, n) => `user ${n}`);
  const nameOf = (n: number): string => names[n % 4] ?? '';
  for (const [n, user] of users.entries()) {
    await storage.commit(Array.from({ length: n % 4 === 0 ? 30 : 1 }, (_, id) => create(id, user, nameOf(n))));
  }
  const pages = await Promise.all(users.map((user) => storage.list(user, { after: undefined, limit: 50 })));
  pages.push(await storage.list('user 0', firstPage));
  const found = pages.map(({ plants }) => [plants.length, plants[0]?.name]);
  const expected = [...users.keys(), 0].map((n) => [n % 4 === 0 ? 6 : 1, nameOf(n)]);
  assert.deepEqual(found, expected);
  assert.equal((await scanAll(storage)).length, 38 * 30 + 112);
  assert.ok(most <= 4 && mostBytes <= 2 * 1024 * 1024, `${most} statements, ${mostBytes} bytes`);
});

it('PostgresStorage reads a list with separators again, and rejects only the list whose read then fails', async (t) => {
  const storage = open(t, (statement, run) => {
    const isSecondRead = statement.values.length === 3 && statement.values[0] === 'ada';
    return isSecondRead ? Promise.reject(new Error('no')) : run(statement);
  });
  const users = ['ada', 'bob', 'eve'];
  await storage.commit(users.map((user) => create(1, user, '\x7f')));
  const [failed, ...others] = users.map((user) => storage.list(user, { after: undefined, limit: 20 }));
  await assert.rejects(async () => failed, /no/);
  assert.equal((await Promise.all(others)).length, 2);
});

it('PostgresStorage runs the statements of a PlantStore outside the async contexts of requests', async (t) => {
  const [contexts, seen] = [new AsyncLocalStorage<string>(), new Set<unknown>()];
  const storage = open(t, (statement, run) => {
    seen.add(contexts.getStore());
    return run(statement);
  });
  const store = new PlantStore({ storage });
  const users = Array.from({ length: 30 }, (_, n) => `user ${n}`);
  const request = (user: string) => async () => {
    await store.createPlant(user, { id: 1, name: 'Fern' });
    await store.listPlants(user, { limit: 1000 });
  };
  await Promise.all(users.map((user) => contexts.run(user, request(user))));
  assert.deepEqual([...seen], [undefined]);
});

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

// These plans have no effect on responses. With other plans, the database only needs much more CPU time.
it('prepared statements of a PostgresStorage › are planned five times, then keep a plan with the index', async (t) => {
  const [pool, table] = [cluster.pool(t, { max: 1 }), cluster.newTable()];
  await new PostgresStorage({ pool, table }).commit([]);
  // The rows are not in the order of the index, so that the cost depends on the estimated number of rows.
  await cluster.query(`INSERT INTO "${table}" SELECT 'user ' || u, n, 'Fern ' || n, 'indoor'
    FROM generate_series(1, 2) AS u, generate_series(1, 100000) AS n ORDER BY hashint4(n)`);
  await cluster.query(`ANALYZE "${table}"`);
  const storage = new PostgresStorage({ pool, table });
  for (let n = 0; n < 20; n++) await useAll(storage);
  type Row = Record<'name' | 'statement' | 'nulls', string> & { custom: number };
  const { rows } = await pool.query<Row>(`SELECT name, statement, custom_plans::integer AS custom,
    array_to_string(array_fill('NULL'::text, ARRAY[cardinality(parameter_types)]), ',') AS nulls
    FROM pg_prepared_statements`);
  assert.ok(rows.length > 0);
  for (const { name, statement, custom, nulls } of rows) {
    // PostgreSQL plans the first five executions.
    assert.equal(custom, 5, statement);
    const explained = await pool.query<object>(`EXPLAIN (FORMAT JSON) EXECUTE "${name}"(${nulls})`);
    const plan = JSON.stringify(explained.rows);
    assert.doesNotMatch(plan, /Seq Scan/, statement);
    // Above an estimated cost of 100,000 (`jit_above_cost`), JIT compilation would take longer than the statement.
    const [, cost] = /"Total Cost":([\d.]+)/.exec(plan) ?? [];
    assert.ok(Number(cost) < 50_000, `${cost}: ${statement}`);
  }
});
