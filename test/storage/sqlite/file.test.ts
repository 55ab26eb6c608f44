import assert from 'node:assert/strict';
import { copyFile, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { PlantStore } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'plants.db');
}

/** Makes a plant store with one plant and closes it. */
async function makeStore(path: string): Promise<void> {
  await using store = new PlantStore({ storage: new SqliteStorage(path) });
  await store.createPlant('ada', { id: 1, name: 'Fern' });
}

function execute(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

/**
 * Leaves a database file as a crash of the machine in the middle of `during` would: parts of the
 * change in the file, its first sector torn, and the journal by which SQLite takes them back.
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

/** Asserts that the file is refused and that not a byte of it, nor a file beside it, has changed. */
async function assertRefused(path: string, message: RegExp): Promise<void> {
  const [before, files] = [await readFile(path), await readdir(join(path, '..'))];
  assert.throws(() => new SqliteStorage(path), { name: 'PlantStoreError', code: 'storage_unsupported', message });
  assert.deepEqual(await readFile(path), before);
  assert.deepEqual(await readdir(join(path, '..')), files);
}

const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('SqliteStorage and its file', () => {
  it('makes the folder and all files for their owner only', async (t) => {
    const folder = join(await temporaryFolder(t), 'new', 'deeper');
    const storage = new SqliteStorage(join(folder, 'plants.db'));
    t.after(() => storage.close());
    await storage.commit([{ kind: 'create', user: 'ada', plant: { id: 1n, name: 'Fern' } }]);
    assert.equal(await mode(folder), 0o700);
    const files = await readdir(folder);
    assert.deepEqual(files.sort(), ['plants.db', 'plants.db-shm', 'plants.db-wal']);
    for (const file of files) assert.equal(await mode(join(folder, file)), 0o600, file);
  });

  it('is in WAL mode and marks the file as its own', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    const database = new DatabaseSync(path, { readOnly: true });
    t.after(() => {
      database.close();
    });
    assert.deepEqual({ ...database.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' });
    assert.deepEqual({ ...database.prepare('PRAGMA user_version').get() }, { user_version: 1 });
    assert.deepEqual({ ...database.prepare('PRAGMA application_id').get() }, { application_id: 0x504c4e54 });
  });

  it('takes an empty file for a new one', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '');
    await makeStore(path);
  });

  it('takes a file that a crash left in the middle of being made', async (t) => {
    const path = await newPath(t);
    await leaveCrashed(path, {
      from: await newPath(t),
      before: '',
      during: 'CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1e6))',
    });
    await makeStore(path);
  });

  it('refuses another application’s file that a crash left in the middle of a change', async (t) => {
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

  it('refuses what is no SQLite database, and leaves it as it is', async (t) => {
    const path = await newPath(t);
    await writeFile(path, 'my only copy of a novel');
    await assertRefused(path, /not an SQLite database\. It was left as it is\.$/);
  });

  it('refuses another application’s database, whatever its journal mode', async (t) => {
    for (const sql of [
      'CREATE TABLE plants (id)',
      'PRAGMA journal_mode = WAL; CREATE TABLE t (a); PRAGMA application_id = 7',
    ]) {
      const path = await newPath(t);
      execute(path, sql);
      await assertRefused(path, /another application/);
    }
  });

  it('refuses another application’s file whose log was not yet taken in, and leaves both', async (t) => {
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

  it('refuses a newer version’s file', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    execute(path, 'PRAGMA user_version = 2');
    await assertRefused(path, /schema version 2; this version of plant-store supports versions up to 1/);
  });

  it('refuses a file that was cut short', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    await truncate(path, (await stat(path)).size - 1);
    await assertRefused(path, /is damaged/);
  });

  it('refuses a file whose schema is garbage', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    const bytes = await readFile(path);
    bytes.fill(0xa5, 100, 4096);
    await writeFile(path, bytes);
    await assertRefused(path, /is damaged/);
  });

  it('refuses a file whose tables are gone', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    execute(path, 'DROP TABLE plants');
    await assertRefused(path, /is damaged/);
  });

  it('refuses what is not a file', async (t) => {
    const folder = await temporaryFolder(t);
    assert.throws(() => new SqliteStorage(folder), { code: 'storage_unsupported', message: /is not a file/ });
  });

  it('passes on what the operating system says', async (t) => {
    const path = join(await newPath(t), 'x', 'plants.db');
    await writeFile(join(path, '..', '..'), 'a file where a folder should be');
    assert.throws(() => new SqliteStorage(path), { code: 'ENOTDIR' });
  });

  it('refuses wrong options, naming them', async (t) => {
    const path = await newPath(t);
    for (const wrong of ['', ':memory:', 7 as unknown as string]) {
      assert.throws(() => new SqliteStorage(wrong), { name: 'TypeError', message: /^path / });
    }
    for (const busyTimeoutMs of [-1, 1.5, 2_147_483_648]) {
      assert.throws(() => new SqliteStorage(path, { busyTimeoutMs }), { name: 'TypeError', message: /busyTimeoutMs/ });
    }
    assert.deepEqual(await readdir(join(path, '..')), []);
  });
});

describe('SqliteStorage beside another process', () => {
  it('waits for its lock up to busyTimeoutMs; then nothing of the batch is kept', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    const store = new PlantStore({ storage: new SqliteStorage(path, { busyTimeoutMs: 50 }) });
    t.after(() => store.close());
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await assert.rejects(store.createPlant('ada', { id: 2, name: 'Moss' }), (error: Error) => {
      assert.match(String(error.cause), /database is locked/);
      return 'code' in error && error.code === 'storage_unavailable';
    });
    other.exec('ROLLBACK');
    other.close();
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    await store.createPlant('ada', { id: 2, name: 'Moss' });
  });

  it('waits for a reader before it enters WAL mode', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    execute(path, 'PRAGMA journal_mode = DELETE');
    const reader = new Worker(
      `const { DatabaseSync } = require('node:sqlite');
       const { parentPort, workerData } = require('node:worker_threads');
       const database = new DatabaseSync(workerData);
       database.exec('BEGIN; SELECT * FROM plants');
       parentPort.postMessage('reading');
       setTimeout(() => database.close(), 300);`,
      { eval: true, workerData: path },
    );
    t.after(() => reader.terminate());
    await new Promise((resolve) => reader.once('message', resolve));
    assert.throws(() => new SqliteStorage(path, { busyTimeoutMs: 0 }), { errcode: 5 });
    await makeStoreAgain(path);
  });

  const skip = process.platform === 'linux' ? false : 'the locks are counted in /proc/locks';
  it(
    'keeps its locks when the same process opens the file again, or others would delete its log',
    { skip },
    async (t) => {
      const path = await newPath(t);
      const storage = new SqliteStorage(path);
      t.after(() => storage.close());
      await storage.list('ada', { after: undefined, limit: 1 });
      const { ino } = await stat(path);
      const locks = async (): Promise<number> => (await readFile('/proc/locks', 'utf8')).split(`:${ino} `).length - 1;
      assert.equal(await locks(), 1);
      await new SqliteStorage(path).close();
      assert.equal(await locks(), 1);
    },
  );

  it('rolls a batch back that fails in the middle', async (t) => {
    const path = await newPath(t);
    await makeStore(path);
    execute(
      path,
      `CREATE TRIGGER no_moss BEFORE INSERT ON plants WHEN NEW.name = 'Moss' BEGIN SELECT RAISE(ABORT, 'no moss'); END`,
    );
    const store = new PlantStore({ storage: new SqliteStorage(path) });
    t.after(() => store.close());
    const settled = await Promise.allSettled([
      store.createPlant('ada', { id: 2, name: 'Ivy' }),
      store.createPlant('ada', { id: 3, name: 'Moss' }),
    ]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    await store.createPlant('ada', { id: 2, name: 'Ivy' });
  });
});

async function makeStoreAgain(path: string): Promise<void> {
  const storage = new SqliteStorage(path);
  assert.equal((await storage.list('ada', { after: undefined, limit: 10 })).length, 1);
  await storage.close();
}
