import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { statementsFor } from '../../../src/storage/postgres/statements.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { namesIn, request } from '../../support/batch-storage.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create } from '../../support/writes.ts';
import { scanAll } from '../../support/stored-plants.ts';

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

/** Opens a storage adapter that records its statements. `plants` contains the number of plants of each user. */
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

    it('has an estimated cost at which PostgreSQL does not use JIT compilation', async (t) => {
      const [, cost] = /"Total Cost":([\d.]+)/.exec(await explain(t, '', 1)) ?? [];
      // The default of jit_above_cost is 100,000.
      assert.ok(Number(cost) < 50_000, cost);
    });

    it('reads only the plants on the pages, even near the end of the list', async (t) => {
      const plan = await explain(t, ', ANALYZE', count - 20);
      assert.doesNotMatch(plan, /Seq Scan/);
      const removed = [...plan.matchAll(/"Rows Removed by[^"]*":(\d+)/g)].map(([, rows]) => Number(rows));
      assert.deepEqual(
        removed.filter((rows) => rows > 0),
        [],
      );
    });
  });

  it('reads one page, or the pages of several users, with one statement', async (t) => {
    const { storage, statements } = await openWatched(t, { ada: 1001, bob: 5 });
    for (const limit of [1, 20, 1000]) await storage.listPages([request('ada', limit)]);
    await storage.listPages([request('ada', 20), request('ada', 9, 9n), request('bob', 4), request('eve', 9)]);
    assert.deepEqual(
      statements.map(({ pages }) => pages),
      [1, 1, 1, 4],
    );
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

  it('returns exact names and tags, whether it reads one page or several pages', async (t) => {
    const special = ['"', '\\', '\x01', '\t', '\x7f', '\x7f,', '\x7f:', '\x7f;', ',', ':', ';', '\\u007f,'];
    const texts = [...special, '', 'é', '🌿', 'x'.repeat(20_000), ...special.map((text) => `a${text}b${text}`)];
    const plants = texts.map((name, n) => [{ name }, { name: 'Moss', tag: name }, { name, tag: texts[n + 1] ?? '' }]);
    const writes = plants.flatMap((row, user) =>
      row.map((plant, n) => ({ kind: 'create', user: `${user}`, plant: { id: BigInt(n), ...plant } }) as const),
    );
    const { storage, statements } = await openWatched(t, {});
    await storage.commit(writes);
    statements.length = 0;
    for (const limit of [1, 2, 3, 4]) {
      const requests = plants.map((_, user) => request(`${user}`, limit));
      const expected = plants.map((row) => {
        const shown = row.slice(0, limit);
        return {
          json: JSON.stringify(shown),
          count: shown.length,
          last: BigInt(shown.length - 1),
          hasMore: limit < 3,
        };
      });
      assert.deepEqual((await Promise.all(requests.map((each) => storage.listPages([each])))).flat(), expected);
      assert.deepEqual(await storage.listPages(requests), expected);
    }
    // Only pages that contain names with separators were read row by row.
    assert.ok(statements.filter(({ pages }) => pages === undefined).length <= 4 * 2 * 10);
  });

  it('completes before close resolves', async (t) => {
    const { storage } = await openWatched(t, { ada: 1000 });
    let settled = 0;
    const lists = Array.from({ length: 30 }, () =>
      storage.listPages([request('ada', 1000)]).finally(() => {
        settled++;
      }),
    );
    await storage.close();
    // The last list can settle in the same tick as `close`.
    await new Promise(setImmediate);
    assert.equal(settled, 30);
    for (const [page] of await Promise.all(lists)) assert.equal(page?.count, 1000);
  });
});

describe('list and scan of a PostgresStorage', () => {
  it('limit the size of a result, however long the names are', async (t) => {
    const nameOf = (n: number): string => 'x'.repeat(n === 3 ? 2_000_000 : 40_000);
    const { storage, statements } = await openWatched(t, { ada: 60 }, nameOf);
    for (const limit of [3, 1000]) {
      const { plants } = await storage.list('ada', { after: undefined, limit });
      assert.equal(plants.length, Math.min(limit, 4));
    }
    assert.equal((await scanAll(storage)).length, 60);
    // Only a result with the name of 2,000,000 bytes can exceed the limit.
    for (const { resultBytes } of statements) {
      assert.ok(resultBytes < 4 * 262_144 + (resultBytes > 2_000_000 ? 2_000_000 : 0), `${resultBytes} bytes`);
    }
  });
});
