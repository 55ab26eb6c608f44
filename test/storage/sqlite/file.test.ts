import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, link, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openDatabase, openToRead } from '../../../src/storage/sqlite/database.ts';
import { databaseFiles } from '../../../src/storage/sqlite/file.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { create } from '../../../src/testing/plants.ts';
import { eventually } from '../../support/eventually.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll, hostilePlants, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { ids, makeCrashed, newPath, openSqlite } from './sqlite-state.ts';

const plants = rowOfPlants('ada', 1);

/** Creates a file that contains a plant. */
async function stored(t: HasAfter): Promise<string> {
  const path = await newPath(t);
  await createAll(path, plants);
  return path;
}

const crashed = (t: HasAfter): Promise<string> => makeCrashed(t, [create(1)]);

/** Returns the contents of the files in a folder by name, without the WAL index, which a reader also changes. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith('-shm'));
  const read = async (name: string): Promise<[string, string]> => [name, await readFile(join(folder, name), 'base64')];
  return Object.fromEntries(await Promise.all(names.map(read)));
}

it('SqliteStorage file › is refused if its folder is missing, or if it is a folder or a pipe', async (t) => {
  const refusal = { code: 'storage_unsupported', message: /is not a file/ };
  const folder = await temporaryFolder(t);
  const message = `There is no folder ${folder}/new for the database file. Create the folder, or choose another file.`;
  assert.throws(() => new SqliteStorage(join(folder, 'new/plants.db')), { message });
  assert.throws(() => new SqliteStorage(folder), refusal);
  for (const path of databaseFiles(join(folder, 'plants.db')).reverse()) {
    await rm(path, { force: true });
    // Opening a pipe could block.
    execFileSync('mkfifo', [path]);
    assert.throws(() => new SqliteStorage(join(folder, 'plants.db')), refusal);
    assert.throws(() => openToRead(join(folder, 'plants.db')), refusal);
    await rm(path);
    await createAll(join(folder, 'plants.db'), plants);
  }
});

it('SqliteStorage file › has mode 0600, settings for durable commits, and a plain column for each field', async (t) => {
  const path = await newPath(t);
  await createAll(path, hostilePlants);
  using database = openDatabase(path, 5000);
  for (const ending of ['', '-wal', '-shm']) assert.equal((await stat(path + ending)).mode & 0o777, 0o600, ending);
  const header = { user_version: 1, application_id: 0x504c4e54, journal_mode: 'wal' };
  const full = { synchronous: 2, fullfsync: 1, checkpoint_fullfsync: 1 };
  for (const [name, value] of Object.entries({ ...header, ...full })) {
    assert.equal(database.prepare(`PRAGMA ${name}`).get()?.[name], value, name);
  }
  const rows = database.prepare('SELECT user, id, name, tag FROM plants ORDER BY user, id');
  rows.setReadBigInts(true);
  rows.setReturnArrays(true);
  const expected = hostilePlants.map(({ user, plant: { id, name, tag = null } }) => [user, id, name, tag]);
  assert.deepEqual(rows.all(), expected);
});

const run = (sql: string) => (path: string) => {
  execute(path, sql);
};
const addWal = async (path: string): Promise<void> => {
  const database = new DatabaseSync(`${path}.open`);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
  for (const ending of ['', '-wal']) await copyFile(`${path}.open${ending}`, path + ending);
  database.close();
};
const shorten = async (path: string): Promise<void> => truncate(path, (await stat(path)).size - 1);
const addLink = (path: string): Promise<void> => link(path, `${path}.new`);
const orphanedWal = /-wal contains writes, but .* is missing or empty/;
const refused = [
  { what: 'is missing but has a WAL', make: crashed, change: rm, error: orphanedWal },
  { what: 'is empty but has a WAL', make: crashed, change: truncate, error: orphanedWal },
  { what: 'is not a plant store', make: newPath, change: run('CREATE TABLE plants (id)'), error: /check the path/ },
  { what: 'is not a plant store and has a WAL', make: newPath, change: addWal, error: /another appl.*check the path/ },
  { what: 'has a newer schema', make: stored, change: run('PRAGMA user_version = 2'), error: /schema version 2/ },
  { what: 'lacks its version', make: stored, change: run('PRAGMA user_version = 0'), error: /user_version is 0, not/ },
  { what: 'has lost its table', make: stored, change: run('DROP TABLE plants'), error: /is damaged/ },
  { what: 'was truncated', make: stored, change: shorten, error: /is damaged.*Restore/ },
  { what: 'has a hard link', make: stored, change: addLink, error: /link: remove it/ },
];
it('SqliteStorage file › is refused and stays unchanged if it is foreign, incomplete, damaged or linked', async (t) => {
  for (const { what, make, change, error: message } of refused) {
    const path = await make(t);
    await change(path);
    const before = await filesIn(dirname(path));
    assert.throws(() => new SqliteStorage(path), { code: 'storage_unsupported', message }, what);
    // A backup of a file with a hard link is complete.
    if (what !== 'has a hard link') assert.throws(() => openToRead(path), { message }, what);
    assert.deepEqual(await filesIn(dirname(path)), before, what);
  }
});

it('SqliteStorage file › can be named by a path or a file URL, but by nothing else', async (t) => {
  const path = await stored(t);
  const storage = new SqliteStorage(pathToFileURL(path));
  t.after(() => storage.close());
  assert.deepEqual(await ids(storage), [0]);
  const urls = ['https://example.com/plants.db', `${pathToFileURL(path).href}?mode=ro`].map((url) => new URL(url));
  for (const wrong of ['', ':memory:', 'sqlite:plants.db', 'file:plants.db', 7, ...urls]) {
    assert.throws(() => new SqliteStorage(wrong as string), { name: 'TypeError', message: /^path / });
  }
});

const skip = process.platform === 'linux' ? false : 'the locks are read from /proc/locks';
it('SqliteStorage file › keeps its lock when the process opens it again and closes it', { skip }, async (t) => {
  const path = await newPath(t);
  const storage = openSqlite(t, path);
  await storage.list('ada', { after: undefined, limit: 1 });
  const { ino } = await stat(path);
  // A file on another device can have the same inode number.
  const lock = new RegExp(` ${process.pid} \\S+:${ino} `);
  // While other processes release locks, a read of /proc/locks can skip lines.
  const expectLock = (): Promise<void> =>
    eventually(async () => {
      assert.match(await readFile('/proc/locks', 'utf8'), lock);
    });
  await expectLock();
  await new SqliteStorage(path).close();
  await expectLock();
});
