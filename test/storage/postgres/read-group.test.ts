import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { maxInt64 } from '../../../src/model/int64.ts';
import type { JsonPage } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { statementsFor } from '../../../src/storage/postgres/statements.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { failure } from '../../support/observed-pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** A statement that reads pages for several requests. */
interface Group {
  readonly users: string[];
  readonly limits: number[];
  resultBytes: number;
}

interface Watched {
  readonly storage: PostgresStorage;
  readonly groups: Group[];
  /** The largest number of reads that ran at the same time. */
  mostAtOnce: number;
  /** Called after a group was read, before its pages are returned. */
  afterRead: (group: Group) => Promise<void>;
}

/** Opens a storage adapter that records the groups. Each user has as many plants as `plants` says. */
async function openWatched(
  t: TestContext,
  plants: Record<string, number>,
  nameOf: (n: number) => string = (n) => `plant ${n}`,
): Promise<Watched> {
  const pool = cluster.pool(t, { max: 10 });
  let running = 0;
  const query: PostgresPool['query'] = async (text, values = []) => {
    if (!text.includes('LATERAL')) return pool.query(text, values);
    watched.mostAtOnce = Math.max(watched.mostAtOnce, ++running);
    const [users, , limits] = values as [string[], string[], number[]];
    const group: Group = { users, limits, resultBytes: 0 };
    watched.groups.push(group);
    const result = await pool.query<{ json: string | null }>(text, values);
    for (const { json } of result.rows) group.resultBytes += Buffer.byteLength(json ?? '');
    await watched.afterRead(group).finally(() => running--);
    return result;
  };
  const storage = new PostgresStorage({ pool: { query }, schema: cluster.newSchemaName() });
  const watched: Watched = { storage, groups: [], mostAtOnce: 0, afterRead: async () => undefined };
  const writes = Object.entries(plants).flatMap(([user, count]) =>
    Array.from({ length: count }, (_, n) => create(n, user, nameOf(n))),
  );
  for (let at = 0; at < writes.length; at += 1000) await storage.commit(writes.slice(at, at + 1000));
  return watched;
}

const first = (limit: number): { after: undefined; limit: number } => ({ after: undefined, limit });

function namesIn({ json }: JsonPage): string[] {
  return (JSON.parse(json) as { name: string }[]).map(({ name }) => name);
}

/** Resolves when the condition is true. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

describe('PostgresStorage with concurrent lists', () => {
  describe('of a user with 200,000 plants', () => {
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
      const requests = Array.from({ length: 64 }, () => ['ada', String(first), 15, 1000]);
      const { rows } = await cluster.pool(t).query<{ 'QUERY PLAN': unknown }>(
        `EXPLAIN (FORMAT JSON${options}) ${statementsFor(table, '"user"').pages}`,
        [0, 1, 2, 3].map((n) => requests.map((request) => request[n])),
      );
      return JSON.stringify(rows[0]?.['QUERY PLAN']);
    }

    it('have an estimated cost at which PostgreSQL does not compile the statement', async (t) => {
      const [, cost] = /"Total Cost":([\d.]+)/.exec(await explain(t, '', 1)) ?? [];
      // The default of jit_above_cost is 100,000.
      assert.ok(Number(cost) < 50_000, cost);
    });

    it('read only the plants of the pages, also near the end of the list', async (t) => {
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
    const { storage, groups } = await openWatched(t, { ada: 30, bob: 5, eve: 0 });
    const ranges: [user: string, after: bigint | undefined, limit: number, from: number, to: number, more: boolean][] =
      [
        ['ada', undefined, 20, 0, 20, true],
        ['ada', 9n, 20, 10, 30, false],
        ['ada', 9n, 19, 10, 29, true],
        ['bob', undefined, 4, 0, 4, true],
        ['bob', undefined, 5, 0, 5, false],
        ['bob', -1n, 1, 0, 1, true],
      ];
    const pages = await Promise.all(
      ranges.map(([user, start, limit]) => storage.listJson(user, { after: start, limit })),
    );
    const empty = [storage.listJson('eve', first(9)), storage.listJson('bob', { after: maxInt64, limit: 9 })];
    assert.equal(groups.length, 1);
    for (const [n, [, , , from, to, hasMore]] of ranges.entries()) {
      const names = Array.from({ length: to - from }, (_, at) => `{"name":"plant ${from + at}"}`);
      assert.deepEqual(pages[n], { json: `[${names.join(',')}]`, count: to - from, last: BigInt(to - 1), hasMore });
    }
    for (const page of await Promise.all(empty)) {
      assert.deepEqual(page, { json: '[]', count: 0, last: undefined, hasMore: false });
    }
  });

  it('limits the requests and plants of a statement, and the statements that run at a time', async (t) => {
    const watched = await openWatched(t, { ada: 1500, bob: 1500 });
    watched.afterRead = () => new Promise((resolve) => setTimeout(resolve, 5));
    const limits = Array.from({ length: 400 }, (_, n) => (n % 50 === 0 ? 1000 : 1 + (n % 40)));
    const pages = await Promise.all(
      limits.map((limit, n) => watched.storage.listJson(n % 2 === 0 ? 'ada' : 'bob', first(limit))),
    );
    assert.deepEqual(
      pages.map(({ count }) => count),
      limits,
    );
    assert.equal(watched.mostAtOnce, 4);
    for (const group of watched.groups) {
      assert.ok(group.users.length <= 64);
      assert.ok(group.limits.reduce((sum, limit) => sum + limit, 0) <= 1000);
    }
    assert.ok(watched.groups.length < 40, `${watched.groups.length} statements`);
  });

  it('limits the size of a result, however long the texts are', async (t) => {
    const nameOf = (n: number): string => String(n % 10).repeat(n < 3 ? 20 : 8_000);
    const { storage, groups } = await openWatched(t, { ada: 60, bob: 60, eve: 3 }, nameOf);
    const users = ['eve', ...Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? 'ada' : 'bob'))];
    const pages = await Promise.all(users.map((user) => storage.listJson(user, first(25))));
    for (const [n, page] of pages.entries()) {
      const most = users[n] === 'eve' ? 3 : 25;
      assert.deepEqual(
        namesIn(page),
        Array.from({ length: most }, (_, at) => nameOf(at)),
      );
      assert.deepEqual([page.count, page.hasMore], [most, most === 25]);
    }
    for (const { resultBytes } of groups) assert.ok(resultBytes <= 8 * 262_144, `${resultBytes} bytes`);
  });

  it('shows every commit that was acknowledged before the list started', async (t) => {
    const watched = await openWatched(t, { ada: 1 });
    const sent = Promise.withResolvers<undefined>();
    const hold = Promise.withResolvers<undefined>();
    watched.afterRead = async () => {
      sent.resolve(undefined);
      await hold.promise;
    };
    const earlier = Promise.all([watched.storage.listJson('ada', first(9)), watched.storage.listJson('ada', first(9))]);
    await sent.promise;
    await watched.storage.commit([create(7n, 'ada', 'new')]);
    const later = Promise.all([watched.storage.listJson('ada', first(9)), watched.storage.listJson('ada', first(9))]);
    await until(() => watched.groups.length === 2);
    hold.resolve(undefined);
    assert.deepEqual((await earlier).map(namesIn), [['plant 0'], ['plant 0']]);
    assert.deepEqual((await later).map(namesIn), [
      ['plant 0', 'new'],
      ['plant 0', 'new'],
    ]);
  });

  it('rejects exactly the requests of a statement that fails', async (t) => {
    const watched = await openWatched(t, { ada: 2, bob: 2 });
    watched.afterRead = async ({ users }) => {
      if (users.includes('ada')) throw failure('57014');
    };
    const ada = Promise.allSettled([1, 2].map((limit) => watched.storage.listJson('ada', first(limit))));
    await until(() => watched.groups.length === 1);
    const bob = await Promise.all([1, 2].map((limit) => watched.storage.listJson('bob', first(limit))));
    for (const outcome of await ada) {
      assert.ok(outcome.status === 'rejected');
      assert.equal((outcome.reason as { code: string }).code, '57014');
    }
    assert.deepEqual(
      bob.map(({ count }) => count),
      [1, 2],
    );
    // The failed statements do not count as running.
    for (let round = 0; round < 8; round++) {
      await assert.rejects(Promise.all([1, 2].map((limit) => watched.storage.listJson('ada', first(limit)))));
    }
    assert.equal((await watched.storage.listJson('bob', first(2))).count, 2);
  });

  it('serves users round-robin, so that long lists of one user do not delay the lists of others', async (t) => {
    const watched = await openWatched(t, { ada: 1000, bob: 20, eve: 20 });
    const long = Array.from({ length: 40 }, () => watched.storage.listJson('ada', first(1000)));
    const short = ['bob', 'eve'].map((user) => watched.storage.listJson(user, first(20)));
    await Promise.all([...long, ...short]);
    assert.deepEqual(
      watched.groups.slice(0, 3).map(({ users }) => users),
      [['ada'], ['bob', 'eve'], ['ada']],
    );
  });

  it('reads a page of 100 plants or more as JSON, also for a single request', async (t) => {
    const { storage, groups } = await openWatched(t, { ada: 100 });
    await storage.listJson('ada', first(99));
    assert.equal(groups.length, 0);
    await storage.listJson('ada', first(100));
    assert.equal(groups.length, 1);
  });

  it('completes the lists that were started before close, then closes', async (t) => {
    const { storage } = await openWatched(t, { ada: 1000 });
    let pending = 30;
    const lists = Array.from({ length: pending }, async () => {
      const { count } = await storage.listJson('ada', first(1000));
      pending--;
      return count;
    });
    await storage.close();
    // The last list was settled in the same tick.
    await new Promise(setImmediate);
    assert.equal(pending, 0);
    assert.deepEqual(new Set(await Promise.all(lists)), new Set([1000]));
    await assert.rejects(storage.listJson('ada', first(1)), { code: 'closed' });
  });
});
