import assert from 'node:assert/strict';
import { copyFile, open, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { PlantStore } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { holdDatabase } from '../../support/hold-database.ts';
import { execute } from '../../support/sqlite-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { ids, openSqlite } from './sqlite-state.ts';

async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'plants.db');
}

/** Creates a plant store with one plant, and closes it. */
async function makeStore(path: string): Promise<void> {
  await using store = new PlantStore({ storage: new SqliteStorage(path) });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
}

/** Leaves a plant store with one plant as after a crash: the plant is only in the WAL. */
async function leaveLog(path: string): Promise<void> {
  const crashed = `${path}.crashed`;
  const storage = new SqliteStorage(crashed);
  await storage.commit([create(1n, 'ada', 'Fern')]);
  for (const ending of ['', '-wal']) await copyFile(crashed + ending, path + ending);
  await storage.close();
}

/**
 * Leaves a database file as after a crash during `during`: with a part of the change and a torn first sector,
 * and with the journal from which SQLite rolls back.
 */
async function leaveCrashed(
  path: string,
  { from, before, during }: { from: string; before: string; during: string },
): Promise<void> {
  const database = new DatabaseSync(from);
  database.exec(`${before}; PRAGMA cache_size = 1; BEGIN; ${during}`);
  await copyFile(from, path);
  await copyFile(`${from}-journal`, `${path}-journal`);
  database.close();
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(512), 0, 512, 0);
  await file.close();
}

/** Asserts that the file is rejected, and that neither the file nor its folder changes. */
async function assertRefused(path: string, message: RegExp): Promise<void> {
  const [before, files] = [await readFile(path), await readdir(join(path, '..'))];
  assert.throws(() => new SqliteStorage(path), { name: 'PlantStoreError', code: 'storage_unsupported', message });
  assert.deepEqual(await readFile(path), before);
  assert.deepEqual(await readdir(join(path, '..')), files);
}

const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('file of a SqliteStorage', () => {
  it('is not created in a folder that does not exist', async (t) => {
    const folder = join(await temporaryFolder(t), 'new');
    const message = `There is no folder ${folder} for the database file. Create the folder, or choose another file.`;
    assert.throws(() => new SqliteStorage(join(folder, 'plants.db')), { message });
  });

  it('is created for its owner only', async (t) => {
    const folder = await temporaryFolder(t);
    const storage = openSqlite(t, join(folder, 'plants.db'));
    await storage.commit([create(1n, 'ada', 'Fern')]);
    const files = await readdir(folder);
    assert.deepEqual(files.sort(), ['plants.db', 'plants.db-shm', 'plants.db-wal']);
    for (const file of files) assert.equal(await mode(join(folder, file)), 0o600, file);
  });

  it('is in WAL mode, and has the application id of plant-store', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    const database = new DatabaseSync(path, { readOnly: true });
    for (const [name, value] of Object.entries({ journal_mode: 'wal', user_version: 2, application_id: 0x504c4e54 })) {
      assert.equal(database.prepare(`PRAGMA ${name}`).get()?.[name], value);
    }
    database.close();
  });

  it('may be an empty file', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '');
    await makeStore(path);
  });

  for (const [what, lose] of [
    ['missing', (path: string) => rename(path, `${path}.moved`)],
    ['empty', (path: string) => copyFile(path, `${path}.moved`).then(() => truncate(path))],
  ] as const) {
    it(`is not created while it is ${what} beside a log with writes`, async (t) => {
      const path = await newPath(t);
      await leaveLog(path);
      await lose(path);
      const [log, files] = [await readFile(`${path}-wal`), await readdir(join(path, '..'))];
      const message = /plants\.db-wal contains writes, but .*plants\.db is missing\. Move /;
      assert.throws(() => new SqliteStorage(path), { name: 'PlantStoreError', code: 'storage_unsupported', message });
      assert.deepEqual(await readFile(`${path}-wal`), log);
      assert.deepEqual(await readdir(join(path, '..')), files);
      await rename(`${path}.moved`, path);
      assert.deepEqual(await ids(openSqlite(t, path)), [1]);
    });
  }

  it('is created again after a crash during its creation', async (t) => {
    const path = await newPath(t);
    await leaveCrashed(path, {
      from: await newPath(t),
      before: '',
      during: 'CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1e6))',
    });
    await makeStore(path);
  });

  it('is rejected if it belongs to another application, which crashed during a change', async (t) => {
    const path = await newPath(t);
    const before = 'CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1e6))';
    await leaveCrashed(path, {
      from: await newPath(t),
      before,
      during: 'CREATE TABLE u (b); UPDATE t SET a = randomblob(1e6)',
    });
    assert.throws(() => new SqliteStorage(path), { code: 'storage_unsupported', message: /another application/ });
    execute(path, 'SELECT * FROM t');
  });

  it('is rejected with its WAL unchanged if it belongs to another application', async (t) => {
    const [path, from] = [await newPath(t), await newPath(t)];
    const database = new DatabaseSync(from);
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    await copyFile(from, path);
    await copyFile(`${from}-wal`, `${path}-wal`);
    database.close();
    const log = await readFile(`${path}-wal`);
    const before = await readFile(path);
    assert.throws(() => new SqliteStorage(path), { code: 'storage_unsupported', message: /another application/ });
    assert.deepEqual(await readFile(path), before);
    assert.deepEqual(await readFile(`${path}-wal`), log);
  });

  const run = (sql: string) => async (path: string) => {
    execute(path, sql);
  };
  const afterwards = (change: (path: string) => Promise<void>) => async (path: string) => {
    await makeStore(path);
    await change(path);
  };
  const walOfAnother = 'PRAGMA journal_mode = WAL; CREATE TABLE t (a); PRAGMA application_id = 7';
  const refused: [what: string, make: (path: string) => Promise<void>, message: RegExp][] = [
    ['it is a text', (path) => writeFile(path, 'a novel'), /not an SQLite database\. It was left as it is\.$/],
    ['it belongs to another application', run('CREATE TABLE plants (id)'), /another application/],
    ['it belongs to another application that uses WAL mode', run(walOfAnother), /another application/],
    ['a newer version wrote it', afterwards(run('PRAGMA user_version = 3')), /version 3; this .* versions up to 2/],
    ['it is truncated', afterwards(async (path) => truncate(path, (await stat(path)).size - 1)), /is damaged/],
    [
      'its schema is damaged',
      afterwards(async (path) => writeFile(path, (await readFile(path)).fill(0xa5, 100, 4096))),
      /is damaged/,
    ],
    ['its table was dropped', afterwards(run('DROP TABLE plants')), /is damaged/],
  ];
  for (const [what, make, message] of refused) {
    it(`is rejected unchanged if ${what}`, async (t) => {
      const path = await newPath(t);
      await make(path);
      await assertRefused(path, message);
    });
  }

  it('is rejected if it is a folder', async (t) => {
    const folder = await temporaryFolder(t);
    assert.throws(() => new SqliteStorage(folder), { code: 'storage_unsupported', message: /is not a file/ });
  });

  it('causes the error of the operating system if it cannot be opened', async (t) => {
    const path = join(await temporaryFolder(t), 'x'.repeat(300));
    assert.throws(() => new SqliteStorage(path), { code: 'ENAMETOOLONG' });
  });

  it('is not created if an option is invalid', async (t) => {
    const path = await newPath(t);
    for (const wrong of ['', ':memory:', 'sqlite:plants.db', 'file:plants.db', 7 as unknown as string]) {
      assert.throws(() => new SqliteStorage(wrong), { name: 'TypeError', message: /^path / });
    }
    for (const busyTimeoutMs of [-1, 1.5, 2_147_483_648]) {
      assert.throws(() => new SqliteStorage(path, { busyTimeoutMs }), { name: 'TypeError', message: /busyTimeoutMs/ });
    }
    assert.deepEqual(await readdir(join(path, '..')), []);
  });
});

describe('SqliteStorage, with another process', () => {
  it('waits for a reader before it enters WAL mode', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    execute(path, 'PRAGMA journal_mode = DELETE');
    await holdDatabase(t, path, 'BEGIN; SELECT * FROM plants', 150);
    assert.throws(() => new SqliteStorage(path, { busyTimeoutMs: 0 }), { errcode: 5 });
    const storage = openSqlite(t, path);
    assert.deepEqual(await ids(storage), [1]);
  });

  const skip = process.platform === 'linux' ? false : 'the locks are counted in /proc/locks';
  it(
    'keeps its locks when the same process opens the file again, because others would delete the WAL',
    { skip },
    async (t) => {
      const path = await newPath(t);
      const storage = openSqlite(t, path);
      await storage.list('ada', { after: undefined, limit: 1 });
      const { ino } = await stat(path);
      const locks = async (): Promise<number> => (await readFile('/proc/locks', 'utf8')).split(`:${ino} `).length - 1;
      assert.equal(await locks(), 1);
      await new SqliteStorage(path).close();
      assert.equal(await locks(), 1);
    },
  );
});
