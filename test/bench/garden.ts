import { createHash } from 'node:crypto';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';

/** Has the plants 1 to 1000, which are listed. */
export const listedUser = 'ada';
/** Has the plants 1 to 200,000, which are deleted. */
export const deletedUser = 'eve';
/** Has no plants in the beginning, and creates some. */
export const creatingUser = 'joe';
/** Have 1000 plants each with random ids. */
export const otherUsers: readonly string[] = Array.from({ length: 799 }, (_, n) => `gardener-${n}`);

export const listedCount = 1000;
export const deletedCount = 200_000;
const plantsPerUser = 1000;

/** Every server in a benchmark holds these plants: a million. */
export const users: readonly string[] = [listedUser, deletedUser, creatingUser, ...otherUsers];

/** The plant n of a user. */
export function plantNumber(n: number): { name: string; tag: string } {
  return { name: `Fern number ${n}`, tag: 'indoor' };
}

/** An id that nobody has, as good as certainly, and that no double rounds. */
export function randomId(): number {
  return 1_000_000 + Math.floor(Math.random() * 2 ** 52);
}

export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

/** Token to user, as the peers take it from their environment. */
export function tokenMap(): string {
  return JSON.stringify(Object.fromEntries(users.map((user) => [tokenOf(user), user])));
}

/** Writes a tokens file of Plant Store's. */
export async function writeTokenFile(path: string): Promise<void> {
  const tokens = users.map((user, n) => ({
    id: n.toString(16).padStart(16, '0'),
    user,
    sha256: createHash('sha256').update(tokenOf(user)).digest('hex'),
    createdAt: new Date().toISOString(),
  }));
  await writeFile(path, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
}

/** The database files of the SQLite candidates: Plant Store's, and the one that its peers copy. */
export async function plantGardens(folder: string): Promise<{ own: string; peer: string }> {
  const own = join(folder, 'garden-own.db');
  const peer = join(folder, 'garden-peer.db');
  await new SqliteStorage(own).close();
  fill(own);
  const database = new DatabaseSync(peer);
  database.exec(`PRAGMA journal_mode = WAL; CREATE TABLE plants (
    user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id)
  ) WITHOUT ROWID`);
  database.close();
  fill(peer);
  return { own, peer };
}

/** A copy for one server. */
export async function copyGarden(garden: string, path: string): Promise<string> {
  await copyFile(garden, path);
  return path;
}

function fill(path: string): void {
  insertAll(path, function* () {
    for (let n = 1; n <= listedCount; n++) yield [listedUser, n, n];
    for (let n = 1; n <= deletedCount; n++) yield [deletedUser, n, n];
    for (const user of otherUsers) for (let n = 0; n < plantsPerUser; n++) yield [user, randomId(), n];
  });
}

/** Puts [user, id, number] rows into a closed database, in one transaction. */
export function insertAll(path: string, rows: () => Iterable<[string, number, number]>): void {
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
