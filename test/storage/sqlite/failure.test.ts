import assert from 'node:assert/strict';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { SqliteStorageOptions } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { create, createEach, firstPage, remove } from '../../../src/testing/plants.ts';
import { holdDatabase } from '../../support/hold-database.ts';
import { damageFile, execute } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants, scanAll } from '../../support/stored-plants.ts';
import { hasProgram } from '../../support/system-fault.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { ids, idsAfterCrash, makeCrashed, newPath, openSqlite, whileStuck } from './sqlite-state.ts';

const damaged = {
  name: 'PlantStoreError',
  code: 'storage_unsupported',
  message: 'The database file is damaged or cannot be read.',
};

/** Calls that read damaged pages. */
const calls: Record<string, (storage: SqliteStorage) => Promise<unknown>> = {
  list: (storage) => storage.list('bob', { after: 1000n, limit: 1000 }),
  scan: scanAll,
  commit: (storage) => storage.commit(Array.from({ length: 1000 }, (_, n) => remove(n * 3, 'bob'))),
};

const twenty = Array.from({ length: 20 }, (_, n) => n + 1);

/** Opens a storage whose file another connection locks for `heldMs` milliseconds, or until the end of the test. */
async function start(t: HasAfter, options: SqliteStorageOptions, heldMs = 60_000): Promise<SqliteStorage> {
  const path = await newPath(t);
  const storage = openSqlite(t, path, options);
  await holdDatabase(t, path, 'BEGIN IMMEDIATE', heldMs);
  return storage;
}

describe('SqliteStorage over a failing disk or a locked file', () => {
  testFaults(false);
});
describe('SqliteStorage with a commit thread over a failing disk or a locked file', () => {
  testFaults(true);
});

function testFaults(commitThread: boolean): void {
  it('SqliteStorage refuses commits after a call finds damage, and lists the plants that it can read', async (t) => {
    for (const [what, call] of Object.entries(calls)) {
      const path = await newPath(t);
      await createAll(path, [...rowOfPlants('ada', 1), ...rowOfPlants('bob', 3000)]);
      const storage = openSqlite(t, path, { commitThread });
      damageFile(path, 8);
      assert.deepEqual(await storage.commit([create(1, 'eve')]), [true]);
      await assert.rejects(call(storage), damaged, what);
      await assert.rejects(storage.commit([create(2, 'eve')]), damaged, what);
      assert.equal((await storage.list('ada', firstPage)).plants.length, 1);
    }
  });

  it('SqliteStorage rejects commits while the disk fails, and continues to list plants', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const path = await newPath(t);
    const storage = openSqlite(t, path, { commitThread });
    for (const id of twenty) await storage.commit([create(id)]);
    for (const id of [21, 22]) {
      await whileStuck(async () => {
        // SQLITE_IOERR_WRITE
        for (let n = 0; n < 3; n++) await assert.rejects(storage.commit([create(99), create(98)]), { errcode: 778 });
        assert.deepEqual(await ids(storage), twenty.concat(id === 22 ? [21] : []));
      });
      assert.deepEqual(await storage.commit([create(id)]), [true]);
    }
    assert.deepEqual(await ids(storage), [...twenty, 21, 22]);
    assert.deepEqual(await idsAfterCrash(t, path), [...twenty, 21, 22]);
  });

  it('SqliteStorage lists the plants in the WAL of a crashed process, even if no checkpoint is possible', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const writes = twenty.map((id) => create(id, 'ada', 'long'.repeat(1000)));
    const path = await makeCrashed(t, writes);
    // The WAL index is smaller than this limit, but the plants are larger.
    await whileStuck(async () => {
      assert.deepEqual(await ids(openSqlite(t, path, { commitThread })), twenty);
    }, 32_768);
    assert.deepEqual(await openSqlite(t, path, { commitThread }).commit([create(21)]), [true]);
    assert.deepEqual(await idsAfterCrash(t, path), [...twenty, 21]);
  });

  it('SqliteStorage waits for the lock before it creates its table, unless another process creates it', async (t) => {
    const table = 'CREATE TABLE plants (user, id, name, tag, PRIMARY KEY (user, id))';
    const schema = `${table}; PRAGMA application_id = 1347178068; PRAGMA user_version = 1`;
    for (const sql of ['', schema]) {
      const path = await newPath(t);
      await holdDatabase(t, path, `BEGIN IMMEDIATE; ${sql}`, 150);
      assert.deepEqual(await openSqlite(t, path, { commitThread }).commit([create(1)]), [true]);
    }
  });

  it('SqliteStorage continues to list plants while a commit waits for the lock', async (t) => {
    const storage = await start(t, { commitThread, busyTimeoutMs: 60_000 }, 1500);
    let isOver = false;
    const committed = storage.commit([create(1)]).finally(() => (isOver = true));
    let lists = 0;
    while (!(isOver as boolean)) {
      await sleep(1);
      assert.ok((await ids(storage)).length <= 1);
      lists++;
    }
    assert.deepEqual(await committed, [true]);
    // If the commit blocked the event loop until it had the lock, there would be at most one list.
    assert.ok(lists > 1, `${lists} lists`);
  });

  it('SqliteStorage rejects a commit after busyTimeoutMs, without any effect', async (t) => {
    const storage = await start(t, { commitThread, busyTimeoutMs: 100 });
    await assert.rejects(storage.commit([create(1)]), /locked/);
    assert.deepEqual(await ids(storage), []);
  });

  it('SqliteStorage rejects a waiting commit with closed when the storage is closed', async (t) => {
    const storage = await start(t, { commitThread, busyTimeoutMs: 60_000 });
    const committed = assert.rejects(storage.commit([create(1)]), { code: 'closed' });
    await storage.close();
    await committed;
  });
}

it('SqliteStorage reports why a long list cannot be read, and returns it after the file is restored', async (t) => {
  const path = await newPath(t);
  const storage = openSqlite(t, path);
  await openSqlite(t, path).commit(createEach(rowOfPlants('ada', 1000)));
  const wal = await readFile(`${path}-wal`);
  await truncate(`${path}-wal`, 4096);
  // SQLITE_IOERR_SHORT_READ
  await assert.rejects(storage.list('ada', firstPage), { errcode: 522 });
  await writeFile(`${path}-wal`, wal);
  assert.equal((await storage.list('ada', firstPage)).plants.length, 1000);
});

it('SqliteStorage waits at most busyTimeoutMs for another process before it enters WAL mode', async (t) => {
  const locked = async (forMs: number): Promise<string> => {
    const path = await newPath(t);
    await createAll(path, []);
    execute(path, 'PRAGMA journal_mode = DELETE');
    await holdDatabase(t, path, 'BEGIN IMMEDIATE', forMs);
    return path;
  };
  const paths = [await locked(60_000), await locked(500)] as const;
  t.mock.timers.enable({ apis: ['Date'] });
  assert.throws(() => openSqlite(t, paths[0], { busyTimeoutMs: 50 }), /locked/);
  assert.deepEqual(await ids(openSqlite(t, paths[1], { busyTimeoutMs: 60_000 })), []);
});
