import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../../src/storage/postgres/pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { scanAll } from '../../support/stored-plants.ts';
import { create } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** Opens a storage. `resultBytes` contains the size of each statement's result. */
function open(t: TestContext): { storage: PostgresStorage; resultBytes: number[] } {
  const pool = cluster.pool(t);
  const resultBytes: number[] = [];
  const query: PostgresPool['query'] = async (statement) => {
    const result = await pool.query<Record<string, string | null>>(statement);
    resultBytes.push(Buffer.byteLength(result.rows.flatMap((row) => Object.values(row)).join('')));
    return result;
  };
  return { storage: new PostgresStorage({ pool: { query }, table: cluster.newTable() }), resultBytes };
}

describe('listPages of a PostgresStorage', () => {
  // A result is held in memory before its pages are built.
  it('reads at most 2 MiB with a statement, however long the names are', async (t) => {
    const nameOf = (n: number): string => String(n % 10).repeat(n < 3 ? 20 : 8000);
    const { storage, resultBytes } = open(t);
    const counts = { ada: 60, bob: 60, eve: 3 };
    for (const [user, count] of Object.entries(counts)) {
      await storage.commit(Array.from({ length: count }, (_, n) => create(n, user, nameOf(n))));
    }
    resultBytes.length = 0;
    const users = ['eve', ...Array.from({ length: 39 }, (_, n) => (n % 2 === 0 ? 'ada' : 'bob'))];
    const pages = await storage.listPages(users.map((user) => ({ user, after: undefined, limit: 25 })));
    for (const [n, page] of pages.entries()) {
      const count = users[n] === 'eve' ? 3 : 25;
      const names = (JSON.parse(page.json) as { name: string }[]).map(({ name }) => name);
      assert.deepEqual(
        names,
        Array.from({ length: count }, (_, at) => nameOf(at)),
      );
      assert.deepEqual([page.count, page.hasMore], [count, count === 25]);
    }
    for (const bytes of resultBytes) assert.ok(bytes <= 2 * 1024 * 1024, `${bytes} bytes`);
  });
});

describe('list and scan of a PostgresStorage', () => {
  it('read about one page with a statement, however long the names are', async (t) => {
    const { storage, resultBytes } = open(t);
    for (let id = 0; id < 60; id++) await storage.commit([create(id, 'ada', 'x'.repeat(40_000))]);
    resultBytes.length = 0;
    assert.equal((await storage.list('ada', { after: undefined, limit: 1000 })).plants.length, 6);
    assert.deepEqual(
      (await scanAll(storage)).map(({ plant }) => plant.id),
      Array.from({ length: 60 }, (_, id) => BigInt(id)),
    );
    for (const bytes of resultBytes) assert.ok(bytes < 350_000, `${bytes} bytes`);
  });
});
