import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, rename, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { PlantStore } from '../../../src/index.ts';
import type { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { createAll, owned, rowOfPlants } from '../../support/stored-plants.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { create, remove } from '../../support/writes.ts';
import { ids, makeCrashed, newPath, openFiles, openSqlite, sizeOf, unavailable, whileStuck } from './sqlite-state.ts';

/** The WAL size at which SQLite runs a checkpoint: 4000 pages, each with a header. */
const fullWalBytes = 4000 * (4096 + 24);

/** Registers a test that limits file sizes. If prlimit is not installed, the test is skipped. */
function itLimited(name: string, run: (t: TestContext) => Promise<void>): void {
  it(name, async (t) => {
    if (hasProgram(t, 'prlimit')) await run(t);
  });
}

const twenty = Array.from({ length: 20 }, (_, n) => n + 1);

describe('SqliteStorage, after a commit whose WAL checkpoint failed because of the disk', () => {
  itLimited('acknowledges the commit, because it is in the WAL, and does not reopen the file', async (t) => {
    const path = await newPath(t);
    const name = 'long'.repeat(1000);
    const plants = rowOfPlants('ada', 4500).map(({ plant }) => owned('ada', { ...plant, name }));
    await createAll(path, plants);
    const storage = openSqlite(t, path);
    const [before, version] = [await sizeOf(path), storage.dataVersion()];
    // A full WAL is smaller than the limit, but after a checkpoint the file is larger.
    const limit = fullWalBytes + 500_000;
    assert.ok(before > limit);
    await whileStuck(async () => {
      for (let id = -1n; (await sizeOf(`${path}-wal`)) <= fullWalBytes + 200_000; id -= 20n) {
        const writes = Array.from({ length: 20 }, (_, n) => create(id - BigInt(n), 'ada', name));
        assert.deepEqual(new Set(await storage.commit(writes)), new Set([true]));
      }
    }, limit);
    assert.equal(await sizeOf(path), before);
    assert.equal(storage.dataVersion(), version);
    assert.deepEqual(await storage.commit([remove(-1n)]), [true]);
    assert.ok((await sizeOf(path)) > before);
  });
});

for (const commitThread of [false, true]) {
  const thread = commitThread ? ' with a commit thread' : '';

  /**
   * Opens a storage with plants 1 to 20. The storage's last commit, which was to create plant 99, failed because of the
   * disk.
   */
  async function makeFailed(t: TestContext): Promise<{ path: string; storage: SqliteStorage }> {
    const path = await newPath(t);
    const storage = openSqlite(t, path, { busyTimeoutMs: 50, commitThread });
    for (const id of twenty) await storage.commit([create(id)]);
    await whileStuck(async () => {
      await assert.rejects(storage.commit([create(99)]), { errcode: 778 /* SQLITE_IOERR_WRITE */ });
    });
    return { path, storage };
  }

  describe(`SqliteStorage${thread}, after a commit that failed because of the disk`, () => {
    itLimited('continues to read, rejects writes while the disk fails, and then starts a new WAL', async (t) => {
      const { path, storage } = await makeFailed(t);
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

    itLimited('does not recover the failed write from the WAL when it is closed', async (t) => {
      const { path, storage } = await makeFailed(t);
      await storage.close();
      assert.deepEqual(await ids(openSqlite(t, path)), twenty);
    });

    for (const isReplaced of [false, true]) {
      const title = isReplaced
        ? 'does not open another file in place of its own'
        : 'creates no file if its own is gone';
      itLimited(title, async (t) => {
        const { path, storage } = await makeFailed(t);
        await rename(path, `${path}.away`);
        if (isReplaced) await copyFile(`${path}.away`, path);
        const files = await readdir(dirname(path));
        await assert.rejects(storage.commit([create(21)]), unavailable);
        assert.deepEqual(await readdir(dirname(path)), files);
        if (isReplaced) assert.deepEqual(await readFile(path), await readFile(`${path}.away`));
        assert.deepEqual(await ids(storage), twenty);
      });
    }

    itLimited('rejects its own file if the file was emptied or truncated', async (t) => {
      const { path, storage } = await makeFailed(t);
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

    itLimited('rejects commits until other connections no longer read the WAL', async (t) => {
      const { path, storage } = await makeFailed(t);
      using reader = new DatabaseSync(path);
      reader.exec('BEGIN; SELECT * FROM plants');
      await assert.rejects(storage.commit([create(21)]), (error: Error) => {
        assert.match(String(error.cause), /The write-ahead log of .* is in use/);
        return 'code' in error && error.code === 'storage_unavailable';
      });
      reader.exec('ROLLBACK');
      assert.deepEqual(await storage.commit([create(21)]), [true]);
    });

    itLimited(
      'shows the writes of other connections, although data_version starts again on the new connection',
      async (t) => {
        const path = await newPath(t);
        const [store, other] = [1, 2].map(() => new PlantStore({ storage: openSqlite(t, path, { commitThread }) }));
        assert.ok(store && other);
        assert.equal((await store.listPageJson('bob')).json, '[]');
        assert.equal((await store.listPageJson('bob')).json, '[]');
        await whileStuck(() => assert.rejects(store.createPlant('ada', { id: 1, name: 'Fern' }), unavailable));
        await other.createPlant('bob', { id: 1, name: 'Moss' });
        await store.createPlant('ada', { id: 1, name: 'Fern' });
        assert.equal((await store.listPageJson('bob')).json, '[{"name":"Moss"}]');
      },
    );

    itLimited('leaks no file descriptor', async (t) => {
      const { path, storage } = await makeFailed(t);
      const counts: number[] = [];
      for (let id = 21; id <= 25; id++) {
        assert.deepEqual(await storage.commit([create(id)]), [true]);
        counts.push([...openFiles().values()].filter((file) => file.startsWith(path)).length);
        await whileStuck(() => assert.rejects(storage.commit([create(99)])));
      }
      assert.deepEqual(counts, Array(5).fill(counts[0]));
    });
  });

  describe(`SqliteStorage${thread}, with a WAL from a crash`, () => {
    const writes = twenty.map((id) => create(id, 'ada', 'long'.repeat(1000)));

    it('checkpoints the WAL before the first write, because parts of the WAL might not be synced', async (t) => {
      const path = await makeCrashed(t, writes);
      assert.ok((await sizeOf(`${path}-wal`)) > 0);
      const storage = openSqlite(t, path, { commitThread });
      assert.equal(await sizeOf(`${path}-wal`), 0);
      assert.deepEqual(await ids(storage), twenty);
    });

    itLimited('reads the WAL, but rejects writes while the WAL cannot be checkpointed', async (t) => {
      const path = await makeCrashed(t, writes);
      const log = await sizeOf(`${path}-wal`);
      // The WAL index is smaller than this limit, but the plants are larger.
      const limit = 32_768;
      const storage = await whileStuck(async () => {
        const storage = openSqlite(t, path, { commitThread });
        assert.deepEqual(await ids(storage), twenty);
        await assert.rejects(storage.commit([create(21)]), unavailable);
        assert.equal(await sizeOf(`${path}-wal`), log);
        return storage;
      }, limit);
      assert.deepEqual(await storage.commit([create(21)]), [true]);
      assert.ok((await sizeOf(`${path}-wal`)) < limit);
    });
  });
}
