import assert from 'node:assert/strict';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { create, createEach, firstPage, remove } from '../../../src/testing/plants.ts';
import { damageFile } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants, scanAll } from '../../support/stored-plants.ts';
import { hasProgram } from '../../support/system-fault.ts';
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

describe('SqliteStorage over a failing disk', () => {
  testFaults(false);
});
describe('SqliteStorage with a commit thread over a failing disk', () => {
  testFaults(true);
});

function testFaults(commitThread: boolean): void {
  it('SqliteStorage over a damaged file refuses commits after a call has found it, and lists what it can', async (t) => {
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

  it('SqliteStorage rejects commits and continues to list plants until the disk works again', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const path = await newPath(t);
    const storage = openSqlite(t, path, { commitThread });
    for (const id of twenty) await storage.commit([create(id)]);
    for (const id of [21, 22]) {
      await whileStuck(async () => {
        for (let n = 0; n < 3; n++) await assert.rejects(storage.commit([create(99), create(98)]), { errcode: 778 });
        assert.deepEqual(await ids(storage), twenty.concat(id === 22 ? [21] : []));
      });
      assert.deepEqual(await storage.commit([create(id)]), [true]);
    }
    assert.deepEqual(await ids(storage), [...twenty, 21, 22]);
    assert.deepEqual(await idsAfterCrash(t, path), [...twenty, 21, 22]);
  });

  it('SqliteStorage lists the plants of a WAL that a crash left and that cannot be checkpointed', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const path = await makeCrashed(
      t,
      twenty.map((id) => create(id, 'ada', 'long'.repeat(1000))),
    );
    // The WAL index is smaller than this limit, but the plants are larger.
    await whileStuck(async () => {
      assert.deepEqual(await ids(openSqlite(t, path, { commitThread })), twenty);
    }, 32_768);
    assert.deepEqual(await openSqlite(t, path, { commitThread }).commit([create(21)]), [true]);
    assert.deepEqual(await idsAfterCrash(t, path), [...twenty, 21]);
  });
}

it('SqliteStorage reports why a long list could not be read, and lists it when the disk works again', async (t) => {
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
