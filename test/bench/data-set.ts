import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CleanUp } from '../support/temporary-folder.ts';
import { poolOf } from '../support/postgres.ts';

/** The user with the plants 1 to 1000, for list requests with a limit. */
export const listedUser = 'ada';
/** The user with the plants 1 to 400,000, for delete requests: more plants than all rounds delete. */
export const deletedUser = 'eve';
/** The user with the plants 1 to 100,000, for list requests without a limit. */
export const wholeUser = 'liz';
/** The user without plants, for create requests. */
export const creatingUser = 'joe';
/** The users with 1000 plants each, whose ids are far apart. */
export const otherUsers: readonly string[] = Array.from({ length: 499 }, (_, n) => `gardener-${n}`);

/** How many plants each user has whose plants have the ids 1, 2, and so on. */
export const numberedUsers = { [listedUser]: 1000, [deletedUser]: 400_000, [wholeUser]: 100_000 };

/** The million plants: each user's number of plants, and the difference between two ids. */
const contents: readonly (readonly [user: string, count: number, step: number])[] = [
  ...Object.entries(numberedUsers).map(([user, count]) => [user, count, 1] as const),
  ...otherUsers.map((user) => [user, 1000, 2 ** 42] as const),
];
const users: readonly string[] = [...contents.map(([user]) => user), creatingUser];

/** Returns a user's plant number `n`. */
export function plantNumber(n: number): { name: string; tag: string } {
  return { name: `Fern number ${n}`, tag: 'indoor' };
}

/** Returns a safe integer that is almost certainly an unused id. */
export function randomId(): number {
  return 1_000_000 + Math.floor(Math.random() * 2 ** 52);
}

/** Returns a user's token. The peers find the user in the token. */
export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

/** Writes a tokens file for Plant Store. */
export function writeTokenFile(path: string, more: readonly string[] = []): void {
  const tokens = [...users, ...more].map((user, n) => ({
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
export async function fillPostgres(connectionString: string): Promise<void> {
  await using cleanUp = new CleanUp();
  const pool = poolOf(cleanUp, { connectionString });
  await pool.query(
    `INSERT INTO plants ("user", id, name, tag)
     SELECT "user", n * step, 'Fern number ' || n, 'indoor'
     FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS contents ("user", count, step),
       generate_series(1, count) AS n`,
    [0, 1, 2].map((column) => contents.map((row) => row[column])),
  );
  await pool.query('VACUUM ANALYZE plants');
  await pool.query('CHECKPOINT');
}
