import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';

export interface PlantFields {
  readonly name: string;
  readonly tag: string;
}

/** The user with the plants 1 to 1000, which are listed. */
export const listedUser = 'ada';
/** The user with the plants 1 to 400,000, which are deleted: more than a server deletes in all rounds. */
export const deletedUser = 'eve';
/** The user with the plants 1 to 100,000, which are listed without a limit. */
export const wholeUser = 'liz';
/** The user that has no plants at the start, and creates some. */
export const creatingUser = 'joe';
/** The users with 1000 plants each, with random ids. */
export const otherUsers: readonly string[] = Array.from({ length: 499 }, (_, n) => `gardener-${n}`);

/** The number of plants of each user whose ids are 1, 2, and so on. */
export const numberedUsers = { [listedUser]: 1000, [deletedUser]: 400_000, [wholeUser]: 100_000 };

/** All users. Together they have a million plants. */
export const users: readonly string[] = [...Object.keys(numberedUsers), creatingUser, ...otherUsers];

/** Returns the plant with the number `n` of a user. */
export function plantNumber(n: number): PlantFields {
  return { name: `Fern number ${n}`, tag: 'indoor' };
}

/** Returns an id that is almost certainly unused, and a safe integer. */
export function randomId(): number {
  return 1_000_000 + Math.floor(Math.random() * 2 ** 52);
}

export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

/** The users by their tokens, as JSON: the peers read it from their environment. */
export function tokenMap(): string {
  return JSON.stringify(Object.fromEntries(users.map((user) => [tokenOf(user), user])));
}

/** Writes a tokens file for Plant Store. */
export async function writeTokenFile(path: string): Promise<void> {
  const tokens = users.map((user, n) => ({
    id: n.toString(16).padStart(16, '0'),
    user,
    sha256: createHash('sha256').update(tokenOf(user)).digest('hex'),
    createdAt: new Date().toISOString(),
  }));
  await writeFile(path, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
}

/** Returns rows of a user, an id, and the number of the plant. */
export type Rows = () => Iterable<readonly [user: string, id: number, n: number]>;

/** Creates an SQLite file of Plant Store with these plants, in one transaction and without syncing. */
export async function createDatabase(path: string, rows: Rows): Promise<void> {
  await new SqliteStorage(path).close();
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
  const insert = database.prepare(
    'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  for (const [user, id, n] of rows()) {
    const { name, tag } = plantNumber(n);
    insert.run(user, id, name, tag);
  }
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** All plants of all users. */
export function* allPlants(): Generator<readonly [string, number, number]> {
  for (const [user, count] of Object.entries(numberedUsers)) for (let n = 1; n <= count; n++) yield [user, n, n];
  for (const user of otherUsers) for (let n = 0; n < 1000; n++) yield [user, randomId(), n];
}
