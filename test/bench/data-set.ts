import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { request } from 'undici';
import type { PostgresCluster } from '../support/postgres.ts';

/** The users whose plants have the ids 1, 2, and so on, with their numbers of plants. */
const numberedUsers = {
  ada: 1000, // For list requests with a limit.
  eve: 600_000, // For delete requests: more plants than all rounds delete.
  liz: 100_000, // For list requests without a limit.
};
/** The users with 1000 plants each, whose ids are far apart. */
export const otherUsers: readonly string[] = Array.from({ length: 499 }, (_, n) => `gardener-${n}`);

/** SQL statements that insert all plants, for SQLite and PostgreSQL. */
const insertAll = [
  ...Object.entries(numberedUsers).map(([user, count]) => ({ user, count, step: 1 })),
  ...otherUsers.map((user) => ({ user, count: 1000, step: 2 ** 42 })),
].map(
  ({ user, count, step }) => `
    INSERT INTO plants ("user", id, name, tag)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT '${user}', n * ${step}, 'Fern number ' || n, 'indoor' FROM numbers;`,
);

/** Returns a user's token. The peers find the user in the token. */
export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

export function writeTokenFile(path: string): void {
  // Joe has no plants. Create requests use his token.
  const users = [...Object.keys(numberedUsers), ...otherUsers, 'joe'];
  const tokens = users.map((user, n) => ({
    id: n.toString(16).padStart(16, '0'),
    user,
    sha256: createHash('sha256').update(tokenOf(user)).digest('hex'),
    createdAt: new Date().toISOString(),
  }));
  writeFileSync(path, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
}

/** Inserts all plants into the SQLite file of an idle server. Afterwards, the write-ahead log has its full size. */
export function fillSqlite(path: string): void {
  using database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
  database.exec(insertAll.join(''));
  database.exec('COMMIT; PRAGMA wal_checkpoint(FULL)');
}

/** Inserts all plants into the table that a server has created in PostgreSQL. */
export async function fillPostgres(cluster: PostgresCluster, url: string): Promise<void> {
  for (const statement of [insertAll.join(''), 'VACUUM ANALYZE plants', 'CHECKPOINT']) {
    await cluster.queryAt(url, statement);
  }
}

/** Creates the plants of the users ada and eve over HTTP, on 16 connections. */
export async function fillMemory(port: number): Promise<void> {
  for (const user of ['ada', 'eve'] as const) {
    const headers = { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' };
    const createEvery16th = async (first: number): Promise<void> => {
      for (let id = first; id <= numberedUsers[user]; id += 16) {
        const body = JSON.stringify({ id, name: `Fern number ${id}`, tag: 'indoor' });
        const response = await request(`http://127.0.0.1:${port}/plants`, { method: 'POST', headers, body });
        await response.body.dump();
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, n) => createEvery16th(n + 1)));
  }
}
