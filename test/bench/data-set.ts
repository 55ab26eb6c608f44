import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

/** The user with the plants 1 to 1000, for list requests with a limit. */
export const listedUser = 'ada';
/** The user with the plants 1 to 400,000, for delete requests: more plants than all rounds delete. */
export const deletedUser = 'eve';
/** The user with the plants 1 to 100,000, for list requests without a limit. */
export const wholeUser = 'liz';
/** The user without plants, for create requests. */
export const creatingUser = 'joe';
/** The users with 1000 plants each. These plants have random ids. */
export const otherUsers: readonly string[] = Array.from({ length: 499 }, (_, n) => `gardener-${n}`);

/** How many plants each user has whose plants have the ids 1, 2, and so on. */
export const numberedUsers = { [listedUser]: 1000, [deletedUser]: 400_000, [wholeUser]: 100_000 };

/** All users. Together, these users have a million plants. */
const users: readonly string[] = [...Object.keys(numberedUsers), creatingUser, ...otherUsers];

/** Returns a user's plant number `n`. */
export function plantNumber(n: number): { name: string; tag: string } {
  return { name: `Fern number ${n}`, tag: 'indoor' };
}

/** Returns a safe integer that is almost certainly an unused id. */
export function randomId(): number {
  return 1_000_000 + Math.floor(Math.random() * 2 ** 52);
}

export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

/** Returns a JSON object that maps tokens to users. The peers read it from their environment. */
export function tokenMap(): string {
  return JSON.stringify(Object.fromEntries(users.map((user) => [tokenOf(user), user])));
}

/** Writes a tokens file for Plant Store. */
export async function writeTokenFile(path: string, more: readonly string[] = []): Promise<void> {
  const tokens = [...users, ...more].map((user, n) => ({
    id: n.toString(16).padStart(16, '0'),
    user,
    sha256: createHash('sha256').update(tokenOf(user)).digest('hex'),
    createdAt: new Date().toISOString(),
  }));
  await writeFile(path, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
}

type Row = readonly [user: string, id: number, name: string];

/** Inserts plants into a server's SQLite file while the server is stopped, without calling fsync. */
export function fillSqlite(path: string, rows: Iterable<Row> = allRows()): void {
  using database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
  const insert = database.prepare(
    'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (const [user, id, name] of rows) insert.run(user, id, name, 'indoor');
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
}

function* allRows(): Generator<Row> {
  for (const [user, count] of Object.entries(numberedUsers)) {
    for (let n = 1; n <= count; n++) yield [user, n, plantNumber(n).name];
  }
  for (const user of otherUsers) for (let n = 0; n < 1000; n++) yield [user, randomId(), plantNumber(n).name];
}

/** Inserts the plants of all users into the table that a server has created in PostgreSQL. */
export async function fillPostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  // If an error has stopped the server, this client must not hide the error.
  client.on('error', () => undefined);
  await client.connect();
  const insert = `INSERT INTO plants ("user", id, name, tag)
    SELECT $1, n, 'Fern number ' || n, 'indoor' FROM generate_series(1, $2::integer) AS n`;
  for (const numbered of Object.entries(numberedUsers)) await client.query(insert, numbered);
  await client.query(
    `INSERT INTO plants ("user", id, name, tag)
     SELECT "user", 1000000 + (random() * 2::double precision ^ 52)::bigint, 'Fern number ' || n, 'indoor'
     FROM unnest($1::text[]) AS "user", generate_series(1, 1000) AS n ON CONFLICT DO NOTHING`,
    [otherUsers],
  );
  await client.query('VACUUM ANALYZE plants');
  await client.query('CHECKPOINT');
  await client.end();
}
