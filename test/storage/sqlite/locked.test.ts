import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { SqliteStorageOptions } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { create } from '../../../src/testing/plants.ts';
import { holdDatabase } from '../../support/hold-database.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { ids, newPath, openSqlite } from './sqlite-state.ts';

const write = create(1);

/** Opens a storage whose file another connection locks for `heldMs` milliseconds, or until the end of the test. */
async function start(t: HasAfter, options: SqliteStorageOptions, heldMs = 60_000): Promise<SqliteStorage> {
  const path = await newPath(t);
  const storage = openSqlite(t, path, options);
  await holdDatabase(t, path, 'BEGIN IMMEDIATE', heldMs);
  return storage;
}

it('SqliteStorage waits at most busyTimeoutMs for another reader before it enters WAL mode', async (t) => {
  const read = async (forMs: number): Promise<string> => {
    const path = await newPath(t);
    await createAll(path, []);
    execute(path, 'PRAGMA journal_mode = DELETE');
    await holdDatabase(t, path, 'BEGIN; SELECT * FROM plants', forMs);
    return path;
  };
  const paths = [await read(60_000), await read(500)] as const;
  t.mock.timers.enable({ apis: ['Date'] });
  assert.throws(() => openSqlite(t, paths[0], { busyTimeoutMs: 50 }), /locked/);
  assert.deepEqual(await ids(openSqlite(t, paths[1], { busyTimeoutMs: 60_000 })), []);
});

describe('SqliteStorage over a locked file', () => {
  testLocks(false);
});
describe('SqliteStorage with a commit thread over a locked file', () => {
  testLocks(true);
});

function testLocks(commitThread: boolean): void {
  it('SqliteStorage waits until it can create its table in a new file', async (t) => {
    const path = await newPath(t);
    await holdDatabase(t, path, 'BEGIN IMMEDIATE', 150);
    assert.deepEqual(await openSqlite(t, path, { commitThread }).commit([write]), [true]);
  });

  it('SqliteStorage continues to list plants while a commit waits for the lock', async (t) => {
    const storage = await start(t, { commitThread, busyTimeoutMs: 60_000 }, 1500);
    let isOver = false;
    const committed = storage.commit([write]).finally(() => {
      isOver = true;
    });
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
    await assert.rejects(storage.commit([write]), /locked/);
    assert.deepEqual(await ids(storage), []);
  });

  it('SqliteStorage rejects a waiting commit with closed when the storage is closed', async (t) => {
    const storage = await start(t, { commitThread, busyTimeoutMs: 60_000 });
    const committed = assert.rejects(storage.commit([write]), { code: 'closed' });
    await storage.close();
    await committed;
  });
}
