import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { maxInt64 } from '../../../src/core/model/int64.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { statementsFor } from '../../../src/storage/postgres/statements.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { namesIn, request } from '../../support/batch-storage.ts';
import { failure } from '../../support/observed-pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** A statement that reads pages. */
interface Statement {
  /** The number of pages; `undefined` if the statement reads rows. */
  readonly pages: number | undefined;
  readonly resultBytes: number;
}

interface Watched {
  readonly storage: PostgresStorage;
  readonly statements: Statement[];
}

/** Opens a storage adapter that records its statements. Each user has as many plants as `plants` says. */
async function openWatched(
  t: TestContext,
  plants: Record<string, number>,
  nameOf: (n: number) => string = (n) => `plant ${n}`,
): Promise<Watched> {
  const pool = cluster.pool(t, { max: 10 });
  const statements: Statement[] = [];
  const query: PostgresPool['query'] = async (statement) => {
    const { text, values } = statement;
    const result = await pool.query<Record<string, string | null>>(statement);
    if (text.includes('pg_relation_size')) return result;
    const isPages = text.includes('LATERAL');
    statements.push({
      pages: isPages ? (values[0] as string[]).length : text.includes('string_agg') ? 1 : undefined,
      resultBytes: Buffer.byteLength(result.rows.flatMap((row) => Object.values(row)).join('')),
    });
    return result;
  };
  const storage = new PostgresStorage({ pool: { query }, schema: cluster.newSchemaName() });
  const writes = Object.entries(plants).flatMap(([user, count]) =>
    Array.from({ length: count }, (_, n) => create(n, user, nameOf(n))),
  );
  for (let at = 0; at < writes.length; at += 1000) await storage.commit(writes.slice(at, at + 1000));
  statements.length = 0;
  return { storage, statements };
}

describe('listPages of a PostgresStorage', () => {
  describe('with a user who has 200,000 plants', () => {
    const count = 200_000;
    let table: string;
    before(async () => {
      const schema = cluster.newSchemaName();
      table = `"${schema}".plants`;
      await cluster.query(`CREATE SCHEMA "${schema}"`);
      await cluster.query(`CREATE TABLE ${table}
        ("user" text NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id))`);
      await cluster.query(`INSERT INTO ${table} SELECT 'ada', n, 'Fern' FROM generate_series(1, ${count}) AS n`);
      await cluster.query(`ANALYZE ${table}`);
    });

    /** Returns the plan of the statement that reads 64 pages of 15 plants. Each page starts at the id `first`. */
    async function explain(t: TestContext, options: string, first: number): Promise<string> {
      const requests = Array.from({ length: 64 }, () => ['ada', String(first), 15]);
      const { rows } = await cluster
        .pool(t)
        .query<{ 'QUERY PLAN': unknown }>(`EXPLAIN (FORMAT JSON${options}) ${statementsFor(table, '"user"').pages}`, [
          ...[0, 1, 2].map((n) => requests.map((each) => each[n])),
          1000,
        ]);
      return JSON.stringify(rows[0]?.['QUERY PLAN']);
    }

    it('has an estimated cost at which PostgreSQL does not compile the statement', async (t) => {
      const [, cost] = /"Total Cost":([\d.]+)/.exec(await explain(t, '', 1)) ?? [];
      // The default of jit_above_cost is 100,000.
      assert.ok(Number(cost) < 50_000, cost);
    });

    it('reads only the plants of the pages, also near the end of the list', async (t) => {
      const plan = await explain(t, ', ANALYZE', count - 20);
      assert.doesNotMatch(plan, /Seq Scan/);
      const removed = [...plan.matchAll(/"Rows Removed by[^"]*":(\d+)/g)].map(([, rows]) => Number(rows));
      assert.deepEqual(
        removed.filter((rows) => rows > 0),
        [],
      );
    });
  });

  it('reads the pages of several users, limits and places with one statement', async (t) => {
    const { storage, statements } = await openWatched(t, { ada: 30, bob: 5, eve: 0 });
    const ranges: [user: string, after: bigint | undefined, limit: number, from: number, to: number, more: boolean][] =
      [
        ['ada', undefined, 20, 0, 20, true],
        ['ada', 9n, 20, 10, 30, false],
        ['ada', 9n, 19, 10, 29, true],
        ['bob', undefined, 4, 0, 4, true],
        ['bob', undefined, 5, 0, 5, false],
        ['bob', -1n, 1, 0, 1, true],
      ];
    const pages = await storage.listPages([
      ...ranges.map(([user, start, limit]) => request(user, limit, start)),
      request('eve', 9),
    ]);
    assert.deepEqual(
      statements.map((statement) => statement.pages),
      [7],
    );
    for (const [n, [, , , from, to, hasMore]] of ranges.entries()) {
      const names = Array.from({ length: to - from }, (_, at) => `{"name":"plant ${from + at}"}`);
      assert.deepEqual(pages[n], { json: `[${names.join(',')}]`, count: to - from, last: BigInt(to - 1), hasMore });
    }
    assert.deepEqual(pages[6], { json: '[]', count: 0, last: undefined, hasMore: false });
    const [end] = await storage.listPages([request('bob', 9, maxInt64)]);
    assert.deepEqual(end, { json: '[]', count: 0, last: undefined, hasMore: false });
  });

  it('reads pages that may be full before their limit with further statements', async (t) => {
    const nameOf = (n: number): string => (n < 10 ? 'short' : 'x'.repeat(40_000));
    const { storage, statements } = await openWatched(t, { ada: 30, bob: 10 }, nameOf);
    const [long, short] = await storage.listPages([request('ada', 500), request('bob', 500)]);
    assert.deepEqual([long?.count, long?.hasMore], [17, true]);
    assert.deepEqual([short?.count, short?.hasMore], [10, false]);
    assert.deepEqual(
      namesIn(long ?? assert.fail()),
      Array.from({ length: 17 }, (_, n) => nameOf(n)),
    );
    assert.equal(statements[0]?.pages, 2);
    assert.ok(statements.length > 1 && statements.slice(1).every(({ pages }) => pages === undefined));
  });

  it('limits the size of a result, however long the names are', async (t) => {
    const nameOf = (n: number): string => String(n % 10).repeat(n < 3 ? 20 : 8000);
    const { storage, statements } = await openWatched(t, { ada: 60, bob: 60, eve: 3 }, nameOf);
    const users = ['eve', ...Array.from({ length: 39 }, (_, n) => (n % 2 === 0 ? 'ada' : 'bob'))];
    const pages = await storage.listPages(users.map((user) => request(user, 25)));
    for (const [n, page] of pages.entries()) {
      const most = users[n] === 'eve' ? 3 : 25;
      assert.deepEqual(
        namesIn(page),
        Array.from({ length: most }, (_, at) => nameOf(at)),
      );
      assert.deepEqual([page.count, page.hasMore], [most, most === 25]);
    }
    assert.equal(statements[0]?.pages, 40);
    for (const { resultBytes } of statements) assert.ok(resultBytes <= 8 * 262_144, `${resultBytes} bytes`);
  });

  it('reads one page with a statement of its own', async (t) => {
    const { storage, statements } = await openWatched(t, { ada: 1001 });
    for (const limit of [1, 20, 1000]) {
      const [page] = await storage.listPages([request('ada', limit)]);
      assert.deepEqual([page?.count, page?.last, page?.hasMore], [limit, BigInt(limit - 1), true]);
    }
    assert.deepEqual(
      statements.map(({ pages }) => pages),
      [1, 1, 1],
    );
  });

  it('is exact with any names and tags, alone and in a group', async (t) => {
    const special = [
      '"',
      '\\',
      '\x01',
      '\x02',
      '\x03',
      '\t',
      '\x7f',
      '\x7f,',
      '\x7f:',
      '\x7f;',
      ',',
      ':',
      ';',
      '\\u007f,',
    ];
    const texts = [
      ...special,
      '',
      'Fern',
      'é',
      '\u2028',
      '🌿',
      'x'.repeat(20_000),
      ...special.map((text) => `a${text}b${text}`),
    ];
    const writes = texts.flatMap((name, n) => [
      { kind: 'create', user: `user ${n}`, plant: { id: 1n, name } } as const,
      { kind: 'create', user: `user ${n}`, plant: { id: 2n, name: 'Moss', tag: name } } as const,
      { kind: 'create', user: `user ${n}`, plant: { id: 3n, name, tag: texts[n + 1] ?? '' } } as const,
    ]);
    const { storage, statements } = await openWatched(t, {});
    await storage.commit(writes);
    statements.length = 0;
    for (const limit of [1, 2, 3, 4]) {
      const requests = texts.map((_, n) => request(`user ${n}`, limit));
      const alone = (await Promise.all(requests.map((each) => storage.listPages([each])))).flat();
      const together = await storage.listPages(requests);
      for (const [n, { user }] of requests.entries()) {
        const plants = writes
          .filter((write) => write.user === user)
          .map(({ plant: { name, tag } }: { plant: { name: string; tag?: string } }) => ({ name, tag }));
        const json = JSON.stringify(plants.slice(0, limit));
        const last = BigInt(Math.min(limit, 3));
        const expected = { json, count: Number(last), last, hasMore: limit < 3 };
        assert.deepEqual(alone[n], expected);
        assert.deepEqual(together[n], expected);
      }
    }
    // Only names with separators were read row by row.
    assert.ok(statements.filter(({ pages }) => pages === undefined).length <= 4 * 2 * 10);
  });

  it('rejects if the statement fails', async (t) => {
    const pool = cluster.pool(t);
    const query: PostgresPool['query'] = (statement) =>
      statement.text.includes('LATERAL') ? Promise.reject(failure('57014')) : pool.query(statement);
    const storage = new PostgresStorage({ pool: { query }, schema: cluster.newSchemaName() });
    await assert.rejects(storage.listPages([request('ada', 5), request('bob', 5)]), { code: '57014' });
  });

  it('is completed before close resolves', async (t) => {
    const { storage } = await openWatched(t, { ada: 1000 });
    let pending = 30;
    const lists = Array.from({ length: pending }, async () => {
      const [page] = await storage.listPages([request('ada', 1000)]);
      pending--;
      return page?.count;
    });
    await storage.close();
    // The last list was settled in the same tick.
    await new Promise(setImmediate);
    assert.equal(pending, 0);
    assert.deepEqual(new Set(await Promise.all(lists)), new Set([1000]));
    await assert.rejects(storage.listPages([request('ada', 1)]), { code: 'closed' });
  });
});

describe('list and scan of a PostgresStorage', () => {
  it('limit the size of a result, however long the names are', async (t) => {
    const nameOf = (n: number): string => 'x'.repeat(n === 3 ? 2_000_000 : 40_000);
    const { storage, statements } = await openWatched(t, { ada: 60 }, nameOf);
    for (const limit of [3, 1000]) {
      const { plants } = await storage.list('ada', { after: undefined, limit });
      const found = await storage.scan({ after: undefined, limit });
      assert.deepEqual([plants.length, found.length], [Math.min(limit, 4), Math.min(limit, 4)]);
    }
    // Only this long name itself may exceed the size.
    const sizes = statements.map(({ resultBytes }) => resultBytes).filter((size) => size < 2_000_000);
    assert.equal(sizes.length, statements.length - 2);
    for (const size of sizes) assert.ok(size < 4 * 262_144, `${size} bytes`);
    statements.length = 0;
    await storage.list('ada', { after: 3n, limit: 1000 });
    await storage.scan({ after: { user: 'ada', id: 3n }, limit: 1000 });
    for (const { resultBytes } of statements) assert.ok(resultBytes < 4 * 262_144, `${resultBytes} bytes`);
  });
});
