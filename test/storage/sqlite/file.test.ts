import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFile, link, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openDatabase } from '../../../src/storage/sqlite/database.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { holdDatabase } from '../../support/hold-database.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll, hostilePlants, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { ids, makeCrashed, newPath, openSqlite } from './sqlite-state.ts';

const plants = rowOfPlants('ada', 1);

/** Returns the contents of the files in a folder by name, without the WAL index, which a reader also changes. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith('-shm'));
  const read = async (name: string): Promise<[string, string]> => [name, await readFile(join(folder, name), 'base64')];
  return Object.fromEntries(await Promise.all(names.map(read)));
}

describe('file of a SqliteStorage', () => {
  it('is not created in a folder that does not exist', async (t) => {
    const folder = join(await temporaryFolder(t), 'new');
    const message = `There is no folder ${folder} for the database file. Create the folder, or choose another file.`;
    assert.throws(() => new SqliteStorage(join(folder, 'plants.db')), { message });
  });

  it('is refused if it has another hard link', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    await createAll(path, plants);
    await link(path, `${path}.link`);
    assert.throws(() => new SqliteStorage(path), { code: 'storage_unsupported', message: /hard link/ });
    await rm(`${path}.link`);
    await new SqliteStorage(path).close();
  });

  it('is refused if it is mounted without its folder', async (t) => {
    const folder = await temporaryFolder(t);
    const [path, mounted] = [join(folder, 'plants.db'), join(folder, 'a mount.db')];
    await createAll(path, plants);
    await writeFile(mounted, '');
    if (spawnSync('mount', ['--bind', path, mounted]).status !== 0) {
      t.skip('this process may not mount');
      return;
    }
    try {
      assert.throws(() => new SqliteStorage(mounted), { code: 'storage_unsupported', message: /mount the folder/ });
    } finally {
      execFileSync('umount', [mounted]);
    }
    assert.deepEqual((await readdir(folder)).sort(), ['a mount.db', 'plants.db']);
  });

  it('has the application id, and a WAL that each commit syncs', async (t) => {
    using database = openDatabase(await newPath(t), 5000);
    const header = { user_version: 1, application_id: 0x504c4e54, journal_mode: 'wal' };
    const full = { synchronous: 2, fullfsync: 1, checkpoint_fullfsync: 1 };
    for (const [name, value] of Object.entries({ ...header, ...full })) {
      assert.equal(database.prepare(`PRAGMA ${name}`).get()?.[name], value, name);
    }
  });

  it('contains plain text', async (t) => {
    const path = await newPath(t);
    await createAll(path, hostilePlants);
    using database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('SELECT user, name, tag FROM plants ORDER BY user, id').all();
    const expected = hostilePlants.map(({ user, plant: { name, tag = null } }) => ({ user, name, tag }));
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      expected,
    );
  });

  it('is initialized if it is empty', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '');
    await createAll(path, plants);
  });

  for (const [what, lose] of [
    ['missing', (path: string) => rename(path, `${path}.moved`)],
    ['empty', (path: string) => copyFile(path, `${path}.moved`).then(() => truncate(path))],
  ] as const) {
    it(`is rejected while it is ${what} but its WAL contains writes`, async (t) => {
      const path = await makeCrashed(t, [create(1)]);
      await lose(path);
      const before = await filesIn(dirname(path));
      const message = /plants\.db-wal contains writes, but .*plants\.db is missing\. Move /;
      assert.throws(() => new SqliteStorage(path), { name: 'PlantStoreError', code: 'storage_unsupported', message });
      assert.deepEqual(await filesIn(dirname(path)), before);
      await rename(`${path}.moved`, path);
      assert.deepEqual(await ids(openSqlite(t, path)), [1]);
    });
  }

  it('is initialized after a crash during its creation', async (t) => {
    const [path, from] = [await newPath(t), await newPath(t)];
    const database = new DatabaseSync(from);
    // The cache is so small that SQLite writes part of the transaction to the file.
    database.exec('PRAGMA cache_size = 1; BEGIN; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1e6))');
    for (const ending of ['', '-journal']) await copyFile(from + ending, path + ending);
    database.close();
    await createAll(path, plants);
  });

  const run = (sql: string) => async (path: string) => {
    execute(path, sql);
  };
  const afterwards = (change: (path: string) => Promise<void>) => async (path: string) => {
    await createAll(path, plants);
    await change(path);
  };
  const walOfAnother = async (path: string): Promise<void> => {
    const from = `${path}.open`;
    const database = new DatabaseSync(from);
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    for (const ending of ['', '-wal']) await copyFile(from + ending, path + ending);
    database.close();
  };
  const refused: [what: string, make: (path: string) => Promise<void>, message: RegExp][] = [
    ['it belongs to another application', run('CREATE TABLE plants (id)'), /another application/],
    ['it belongs to another application that uses WAL mode', walOfAnother, /another application/],
    ['a newer version wrote it', afterwards(run('PRAGMA user_version = 2')), /schema version 2/],
    ['it is truncated', afterwards(async (path) => truncate(path, (await stat(path)).size - 1)), /is damaged/],
    ['its table was dropped', afterwards(run('DROP TABLE plants')), /is damaged/],
  ];
  for (const [what, make, message] of refused) {
    it(`is rejected and stays unchanged if ${what}`, async (t) => {
      const path = await newPath(t);
      await make(path);
      const before = await filesIn(dirname(path));
      assert.throws(() => new SqliteStorage(path), { name: 'PlantStoreError', code: 'storage_unsupported', message });
      assert.deepEqual(await filesIn(dirname(path)), before);
    });
  }

  it('is rejected if it is a folder', async (t) => {
    const folder = await temporaryFolder(t);
    assert.throws(() => new SqliteStorage(folder), { code: 'storage_unsupported', message: /is not a file/ });
  });

  it('can be named by a file URL', async (t) => {
    const path = await newPath(t);
    await createAll(path, plants);
    const storage = new SqliteStorage(pathToFileURL(path));
    t.after(() => storage.close());
    assert.deepEqual(await ids(storage), [0]);
    for (const url of ['https://example.com/plants.db', `${pathToFileURL(path).href}?mode=ro`]) {
      assert.throws(() => new SqliteStorage(new URL(url)), { name: 'TypeError', message: /^path / });
    }
  });

  it('is not created if an option is invalid', async (t) => {
    const path = await newPath(t);
    for (const wrong of ['', ':memory:', 'sqlite:plants.db', 'file:plants.db', 7 as unknown as string]) {
      assert.throws(() => new SqliteStorage(wrong), { name: 'TypeError', message: /^path / });
    }
    assert.deepEqual(await readdir(join(path, '..')), []);
  });
});

describe('SqliteStorage with another process', () => {
  it('waits for a reader before it switches the file to WAL mode', async (t) => {
    const path = await newPath(t);
    await createAll(path, plants);
    execute(path, 'PRAGMA journal_mode = DELETE');
    await holdDatabase(t, path, 'BEGIN; SELECT * FROM plants', 150);
    assert.throws(() => new SqliteStorage(path, { busyTimeoutMs: 0 }), { errcode: 5 });
    assert.deepEqual(await ids(openSqlite(t, path)), [0]);
  });

  const skip = process.platform === 'linux' ? false : 'the locks are counted in /proc/locks';
  it(
    'keeps its locks when the same process opens the file again, so that no other process deletes the WAL',
    { skip },
    async (t) => {
      const path = await newPath(t);
      const storage = openSqlite(t, path);
      await storage.list('ada', { after: undefined, limit: 1 });
      const { ino } = await stat(path);
      // A file on another device can have the same inode number.
      const lock = new RegExp(` ${process.pid} \\S+:${ino} `);
      const locks = async (): Promise<number> => (await readFile('/proc/locks', 'utf8')).split(lock).length - 1;
      assert.equal(await locks(), 1);
      await new SqliteStorage(path).close();
      assert.equal(await locks(), 1);
    },
  );
});
