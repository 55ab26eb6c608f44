import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { ids, openFiles, openSqlite } from './sqlite-state.ts';

const endings = ['', '-wal', '-shm'];

/** Asserts that a commit fails, and that the cause has this message. */
async function assertFails(storage: SqliteStorage, id: number, message: string): Promise<void> {
  await assert.rejects(storage.commit([create(id)]), (error: Error & { code?: string }) => {
    assert.equal(error.code, 'storage_unavailable');
    assert.equal((error.cause as Error).message, message);
    return true;
  });
}

/** Asserts that a commit fails because it notices that the file at this path is no longer the open one. */
async function assertLost(storage: SqliteStorage, path: string, id: number): Promise<void> {
  const what = `The database file ${path} was removed or replaced while it was open.`;
  const advice = 'Its plants can be read until this process stops: save them, then restore the file from a backup';
  await assertFails(storage, id, `${what} ${advice} and restart.`);
}

/** Asserts that a commit fails because an earlier one noticed that the file is lost. */
async function assertStillLost(storage: SqliteStorage, path: string, id: number): Promise<void> {
  await assertFails(storage, id, `${path} was removed or replaced`);
}

for (const commitThread of [false, true]) {
  const thread = commitThread ? ' with a commit thread' : '';

  /** Opens a storage and creates a plant in it. */
  async function open(t: HasAfter, path: string, id = 1): Promise<SqliteStorage> {
    const storage = openSqlite(t, path, { commitThread });
    assert.deepEqual(await storage.commit([create(id)]), [true]);
    return storage;
  }

  describe(`SqliteStorage${thread} whose file is lost`, () => {
    it('rejects commits after the file was removed, creates no new file, and continues to list', async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      const storage = await open(t, path);
      for (const ending of endings) await rm(path + ending);
      await assertLost(storage, path, 2);
      const found = await ids(storage);
      assert.equal(found[0], 1);
      for (const id of [3, 4]) await assertStillLost(storage, path, id);
      assert.deepEqual(await ids(storage), found);
      assert.deepEqual(await readdir(dirname(path)), []);
      await storage.close();
      assert.deepEqual(await readdir(dirname(path)), []);
    });

    it('rejects commits after another file replaced it, and leaves that file unchanged', async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      const storage = await open(t, path);
      await new SqliteStorage(`${path}.other`).close();
      for (const ending of endings) await rm(path + ending);
      await rename(`${path}.other`, path);
      const bytes = await readFile(path);
      await assertLost(storage, path, 2);
      await assertStillLost(storage, path, 3);
      assert.equal((await ids(storage))[0], 1);
      await storage.close();
      assert.deepEqual(await readFile(path), bytes);
      assert.deepEqual(await readdir(dirname(path)), ['plants.db']);
    });

    it('accepts commits after a moved file was moved back and opened again', async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      const storage = await open(t, path);
      for (const ending of endings) await rename(path + ending, `${path}.away${ending}`);
      await assertLost(storage, path, 2);
      for (const ending of endings) await rename(`${path}.away${ending}`, path + ending);
      await assertStillLost(storage, path, 3);
      const found = await ids(storage);
      assert.equal(found[0], 1);
      await storage.close();
      const again = await open(t, path, 3);
      assert.deepEqual(await ids(again), [...found, 3]);
    });

    it('continues to list after a moved file was moved back without its WAL', async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      const storage = await open(t, path);
      await rename(path, `${path}.away`);
      await assertLost(storage, path, 2);
      await rm(`${path}-wal`);
      await rename(`${path}.away`, path);
      await assertStillLost(storage, path, 3);
      assert.equal((await ids(storage))[0], 1);
    });

    it('rejects commits after its symbolic link was changed to another file', async (t) => {
      const folder = await temporaryFolder(t);
      const [path, link] = [join(folder, 'plants.db'), join(folder, 'link.db')];
      await new SqliteStorage(path).close();
      await symlink(path, link);
      const storage = await open(t, link);
      await copyFile(path, `${path}.other`);
      await symlink(`${path}.other`, `${link}.new`);
      await rename(`${link}.new`, link);
      await assertLost(storage, link, 2);
    });

    it('accepts commits after the folder of a relative path was left', async (t) => {
      const folder = await temporaryFolder(t);
      const before = process.cwd();
      process.chdir(folder);
      try {
        const storage = openSqlite(t, 'plants.db', { commitThread });
        process.chdir(before);
        assert.deepEqual(await storage.commit([create(1)]), [true]);
        await rm(join(folder, 'plants.db'));
        await assertLost(storage, join(folder, 'plants.db'), 2);
      } finally {
        process.chdir(before);
      }
    });

    const skip = process.platform === 'linux' ? false : 'the removed files are copied from /proc';
    it('leaves its plants in the open files, which can be copied', { skip }, async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      const storage = await open(t, path);
      for (const ending of endings) await rm(path + ending);
      await assertLost(storage, path, 2);
      const expected = await ids(storage);
      for (const ending of ['', '-wal']) {
        const [descriptor] =
          [...openFiles()].find(([, file]) => file === `${path}${ending} (deleted)`) ?? assert.fail();
        await copyFile(`/proc/self/fd/${descriptor}`, `${path}.saved${ending}`);
      }
      const saved = openSqlite(t, `${path}.saved`);
      assert.deepEqual(await ids(saved), expected);
    });
  });
}
