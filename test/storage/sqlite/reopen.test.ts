import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, rename, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { PlantStore } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { hasProgram, limitFileSize } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { ids, openFiles, openSqlite, sizeOf, unavailable } from './sqlite-state.ts';

/** Registers a test that limits the size of files. Without prlimit it is skipped. */
function itLimited(name: string, run: (t: TestContext) => Promise<void>): void {
  it(name, async (t) => {
    if (hasProgram(t, 'prlimit')) await run(t);
  });
}

/** Runs `work` while the files of this process cannot grow. */
async function whileStuck(work: () => Promise<void>): Promise<void> {
  limitFileSize(process.pid, 4096);
  try {
    await work();
  } finally {
    limitFileSize(process.pid, 'unlimited');
  }
}

/** Opens a storage with the plants 1 to 20. Its last commit, of plant 99, failed because of the disk. */
async function makeFailed(t: TestContext, commitThread: boolean): Promise<{ path: string; storage: SqliteStorage }> {
  const path = join(await temporaryFolder(t), 'plants.db');
  const storage = openSqlite(t, path, { busyTimeoutMs: 50, commitThread });
  for (let id = 1; id <= 20; id++) await storage.commit([create(id)]);
  await whileStuck(async () => {
    await assert.rejects(storage.commit([create(99)]), { errcode: 778 /* SQLITE_IOERR_WRITE */ });
  });
  return { path, storage };
}

const twenty = Array.from({ length: 20 }, (_, n) => n + 1);

for (const commitThread of [false, true]) {
  const thread = commitThread ? ' with a commit thread' : '';

  describe(`SqliteStorage${thread}, after a commit that failed because of the disk`, () => {
    itLimited('continues to read, rejects writes while the disk fails, and then starts a new WAL', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      await whileStuck(async () => {
        for (let n = 0; n < 3; n++) await assert.rejects(storage.commit([create(99)]), unavailable);
        assert.deepEqual(await ids(storage), twenty);
      });
      const before = await sizeOf(`${path}-wal`);
      assert.deepEqual(await storage.commit([create(21)]), [true]);
      const after = await sizeOf(`${path}-wal`);
      assert.ok(after > 0 && after < before / 4, `${before} bytes became ${after}`);
      assert.deepEqual(await ids(storage), [...twenty, 21]);
    });

    itLimited('does not recover the failed write from the WAL', async (t) => {
      const { storage } = await makeFailed(t, commitThread);
      assert.deepEqual(await storage.commit([create(99)]), [true]);
    });

    itLimited('creates no new file if its file was removed', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      await rename(path, `${path}.away`);
      const files = await readdir(join(path, '..'));
      await assert.rejects(storage.commit([create(21)]), unavailable);
      assert.deepEqual(await readdir(join(path, '..')), files);
      assert.deepEqual(await ids(storage), twenty);
    });

    itLimited('does not open another file in place of its own', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      await rename(path, `${path}.away`);
      await copyFile(`${path}.away`, path);
      const bytes = await readFile(path);
      await assert.rejects(storage.commit([create(21)]), unavailable);
      assert.deepEqual(await readFile(path), bytes);
      assert.deepEqual(await ids(storage), twenty);
    });

    itLimited('rejects its own file if that was emptied or truncated', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      await storage.commit([create(21)]);
      await whileStuck(() => assert.rejects(storage.commit([create(99)])));
      await truncate(`${path}-wal`, 0);
      for (const size of [4096, 0]) {
        assert.ok((await sizeOf(path)) > size);
        await truncate(path, size);
        await assert.rejects(storage.commit([create(22)]), unavailable);
        assert.equal(await sizeOf(path), size);
      }
    });

    itLimited('waits until other connections no longer read the WAL', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      const reader = new DatabaseSync(path);
      t.after(() => {
        reader.close();
      });
      reader.exec('BEGIN; SELECT * FROM plants');
      await assert.rejects(storage.commit([create(21)]), (error: Error) => {
        assert.match(String(error.cause), /The write-ahead log of .* is in use/);
        return 'code' in error && error.code === 'storage_unavailable';
      });
      reader.exec('ROLLBACK');
      assert.deepEqual(await storage.commit([create(21)]), [true]);
    });

    itLimited('shows what others wrote meanwhile, although data_version restarts in the new connection', async (t) => {
      const path = join(await temporaryFolder(t), 'plants.db');
      const [store, other] = [1, 2].map(() => new PlantStore({ storage: new SqliteStorage(path, { commitThread }) }));
      assert.ok(store && other);
      t.after(async () => {
        await Promise.all([store.close(), other.close()]);
      });
      assert.equal((await store.listPage('bob')).json, '[]');
      assert.equal((await store.listPage('bob')).json, '[]');
      await whileStuck(() => assert.rejects(store.createPlant('ada', { id: 1, name: 'Fern' }), unavailable));
      await other.createPlant('bob', { id: 1, name: 'Moss' });
      await store.createPlant('ada', { id: 1, name: 'Fern' });
      assert.equal((await store.listPage('bob')).json, '[{"name":"Moss"}]');
    });

    itLimited('leaks no file descriptor', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      const counts: number[] = [];
      for (let id = 21; id <= 25; id++) {
        assert.deepEqual(await storage.commit([create(id)]), [true]);
        counts.push([...openFiles().values()].filter((file) => file.startsWith(path)).length);
        await whileStuck(() => assert.rejects(storage.commit([create(99)])));
      }
      assert.deepEqual(counts, Array(5).fill(counts[0]));
    });

    itLimited('can be closed twice', async (t) => {
      const { path, storage } = await makeFailed(t, commitThread);
      await storage.close();
      await storage.close();
      await assert.rejects(storage.commit([create(21)]), { code: 'closed' });
      assert.throws(() => storage.dataVersion(), { code: 'closed' });
      const again = openSqlite(t, path);
      assert.deepEqual(await ids(again), twenty);
    });
  });

  describe(`SqliteStorage${thread}, with a WAL from a crash`, () => {
    /** Copies a file in use and its WAL, as after a crash. */
    async function makeCrashed(t: TestContext): Promise<string> {
      const [from, path] = [join(await temporaryFolder(t), 'plants.db'), join(await temporaryFolder(t), 'plants.db')];
      const storage = new SqliteStorage(from);
      for (const id of twenty) await storage.commit([create(id, 'ada', 'long'.repeat(1000))]);
      for (const ending of ['', '-wal']) await copyFile(from + ending, path + ending);
      await storage.close();
      return path;
    }

    it('checkpoints it before the first write, because parts of it may not be synced', async (t) => {
      const path = await makeCrashed(t);
      assert.ok((await sizeOf(`${path}-wal`)) > 0);
      const storage = openSqlite(t, path, { commitThread });
      assert.equal(await sizeOf(`${path}-wal`), 0);
      assert.deepEqual(await ids(storage), twenty);
    });

    itLimited('reads it, but rejects writes while it cannot be checkpointed', async (t) => {
      const path = await makeCrashed(t);
      const log = await sizeOf(`${path}-wal`);
      // Enough for the index of the WAL, and too little for the plants.
      const limit = 32_768;
      limitFileSize(process.pid, limit);
      try {
        const storage = openSqlite(t, path, { commitThread });
        assert.deepEqual(await ids(storage), twenty);
        await assert.rejects(storage.commit([create(21)]), unavailable);
        assert.equal(await sizeOf(`${path}-wal`), log);
        limitFileSize(process.pid, 'unlimited');
        assert.deepEqual(await storage.commit([create(21)]), [true]);
        assert.ok((await sizeOf(`${path}-wal`)) < limit);
      } finally {
        limitFileSize(process.pid, 'unlimited');
      }
    });
  });
}
