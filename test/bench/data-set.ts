import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { PostgresCluster } from '../support/postgres.ts';

/** The users whose plants have the ids 1, 2, and so on, with their numbers of plants. */
export const numberedUsers = {
  ada: 1000, // For list requests with a limit.
  eve: 400_000, // For delete requests: more plants than all rounds delete.
  liz: 100_000, // For list requests without a limit.
};
/** The user without plants, for create requests. */
export const creatingUser = 'joe';
/** The users with 1000 plants each, whose ids are far apart. */
export const otherUsers: readonly string[] = Array.from({ length: 499 }, (_, n) => `gardener-${n}`);

/** The million plants: each user's number of plants, and the difference between two ids. */
const contents: readonly (readonly [user: string, count: number, step: number])[] = [
  ...Object.entries(numberedUsers).map(([user, count]) => [user, count, 1] as const),
  ...otherUsers.map((user) => [user, 1000, 2 ** 42] as const),
];

export function plantNumber(n: number): { name: string; tag: string } {
  return { name: `Fern number ${n}`, tag: 'indoor' };
}

/** Returns a user's token. The peers find the user in the token. */
export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

export function writeTokenFile(path: string, more: readonly string[] = []): void {
  const users = [...contents.map(([user]) => user), creatingUser, ...more];
  const tokens = users.map((user, n) => ({
    id: n.toString(16).padStart(16, '0'),
    user,
    sha256: createHash('sha256').update(tokenOf(user)).digest('hex'),
    createdAt: new Date().toISOString(),
  }));
  writeFileSync(path, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
}

/** Inserts all plants into a server's SQLite file while the server is stopped, without calling fsync. */
export function fillSqlite(path: string): void {
  using database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
  const insert = database.prepare(`
    WITH RECURSIVE numbers (n, count) AS (SELECT 1, ? UNION ALL SELECT n + 1, count FROM numbers WHERE n < count)
    INSERT INTO plants (user, id, name, tag) SELECT ?, n * ?, 'Fern number ' || n, 'indoor' FROM numbers`);
  for (const [user, count, step] of contents) insert.run(count, user, step);
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Inserts all plants into the table that a server has created in PostgreSQL. */
export async function fillPostgres(cluster: PostgresCluster, url: string): Promise<void> {
  await cluster.queryAt(
    url,
    `INSERT INTO plants ("user", id, name, tag)
     SELECT "user", n * step, 'Fern number ' || n, 'indoor'
     FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS contents ("user", count, step),
       generate_series(1, count) AS n`,
    [0, 1, 2].map((column) => contents.map((row) => row[column])),
  );
  await cluster.queryAt(url, 'VACUUM ANALYZE plants');
  await cluster.queryAt(url, 'CHECKPOINT');
}
