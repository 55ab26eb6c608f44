import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { PlantStoreError } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { folderIsSettled, ids, newPath, openSqlite } from './sqlite-state.ts';

const endings = ['', '-wal', '-shm'];

/** Asserts that a commit fails because the file at the path is no longer the open file. Returns the stored ids. */
async function assertLost(storage: SqliteStorage, path: string, id = 2): Promise<number[]> {
  await assert.rejects(storage.commit([create(id)]), (error: Error) => {
    assert.ok(error instanceof PlantStoreError && error.code === 'storage_unavailable');
    assert.ok(String(error.cause).includes(`${path} was removed or replaced`), String(error.cause));
    return true;
  });
  const found = await ids(storage);
  assert.equal(found[0], 1);
  return found;
}

for (const commitThread of [false, true]) {
  /** Opens a storage and creates a plant in it. */
  async function open(t: HasAfter, path: string, id = 1): Promise<SqliteStorage> {
    const storage = openSqlite(t, path, { commitThread });
    assert.deepEqual(await storage.commit([create(id)]), [true]);
    return storage;
  }

  describe(`SqliteStorage${commitThread ? ' with a commit thread' : ''} whose file is lost`, () => {
    it('rejects commits after the file is removed, creates no new file, and continues to list plants', async (t) => {
      const path = await newPath(t);
      const storage = await open(t, path);
      for (const ending of endings) await rm(path + ending);
      const found = await assertLost(storage, path);
      for (const id of [3, 4]) assert.deepEqual(await assertLost(storage, path, id), found);
      await storage.close();
      assert.deepEqual(await readdir(dirname(path)), []);
    });

    it('rejects commits after another file replaces it, and leaves the other file unchanged', async (t) => {
      const path = await newPath(t);
      const storage = await open(t, path);
      await new SqliteStorage(`${path}.other`).close();
      await folderIsSettled();
      await storage.commit([create(10)]);
      for (const ending of endings) await rm(path + ending);
      await rename(`${path}.other`, path);
      const bytes = await readFile(path);
      for (const id of [2, 3]) await assertLost(storage, path, id);
      await storage.close();
      assert.deepEqual(await readFile(path), bytes);
      assert.deepEqual(await readdir(dirname(path)), ['plants.db']);
    });

    it('accepts commits after a moved file is moved back and reopened', async (t) => {
      const path = await newPath(t);
      const storage = await open(t, path);
      for (const ending of endings) await rename(path + ending, `${path}.away${ending}`);
      await assertLost(storage, path);
      for (const ending of endings) await rename(`${path}.away${ending}`, path + ending);
      const found = await assertLost(storage, path, 3);
      await storage.close();
      assert.deepEqual(await ids(await open(t, path, 3)), [...found, 3]);
    });

    it('rejects commits after its symbolic link is changed to point to another file', async (t) => {
      const path = await newPath(t);
      const link = `${path}.link`;
      await new SqliteStorage(path).close();
      await symlink(path, link);
      const storage = await open(t, link);
      await copyFile(path, `${path}.other`);
      await symlink(`${path}.other`, `${link}.new`);
      await rename(`${link}.new`, link);
      await assertLost(storage, link);
    });

    const skip = process.platform === 'linux' ? false : 'needs /proc';
    it('closes its files even if nothing at the path can be read', { skip }, async (t) => {
      const path = await newPath(t);
      const storage = await open(t, path);
      await rename(path, `${path}.moved`);
      await symlink(path, path);
      await storage.close();
      for (const descriptor of await readdir('/proc/self/fd')) {
        const target = await readlink(`/proc/self/fd/${descriptor}`).catch(() => '');
        assert.ok(!target.startsWith(path), target);
      }
    });
  });
}
