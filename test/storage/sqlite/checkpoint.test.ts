import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { hasProgram, limitFileSize } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create, remove } from '../../support/writes.ts';
import { openSqlite, sizeOf } from './sqlite-state.ts';

/** The size at which SQLite checkpoints the WAL: 4000 pages, each with a header. */
const fullLogBytes = 4000 * (4096 + 24);

describe('the WAL of an SQLite file', () => {
  it('grows to 4000 pages, then a checkpoint empties it', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    const storage = openSqlite(t, path);
    const name = 'long'.repeat(1000);
    // Each plant takes about a page. The file grows only in a checkpoint.
    const empty = await sizeOf(path);
    for (let id = 0n; (await sizeOf(path)) === empty; id += 100n) {
      await storage.commit(Array.from({ length: 100 }, (_, n) => create(id + BigInt(n), 'ada', name)));
      assert.ok(id < 8000n, 'no checkpoint');
    }
    const pages = (await sizeOf(`${path}-wal`)) / (4096 + 24);
    assert.ok(pages > 4000 && pages < 4400, `${pages} pages`);
  });
});

describe('commit to SQLite after which the WAL checkpoint fails', () => {
  it('succeeds, because the WAL contains it', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const path = join(await temporaryFolder(t), 'plants.db');
    const name = 'long'.repeat(1000);
    const first = new SqliteStorage(path);
    await first.commit(Array.from({ length: 4500 }, (_, id) => create(BigInt(id), 'ada', name)));
    await first.close();

    const storage = openSqlite(t, path);
    const [before, version] = [await sizeOf(path), storage.dataVersion()];
    // Too small for the file after a checkpoint, and large enough for a full WAL.
    const limit = fullLogBytes + 500_000;
    assert.ok(before > limit);
    limitFileSize(process.pid, limit);
    try {
      for (let id = -1n; !((await sizeOf(`${path}-wal`)) > fullLogBytes + 200_000); id -= 20n) {
        const writes = Array.from({ length: 20 }, (_, n) => create(id - BigInt(n), 'ada', name));
        assert.deepEqual(new Set(await storage.commit(writes)), new Set([true]));
      }
    } finally {
      limitFileSize(process.pid, 'unlimited');
    }
    assert.equal(await sizeOf(path), before);
    assert.equal(storage.dataVersion(), version, 'the file was not reopened');
    assert.deepEqual(await storage.commit([remove(-1n)]), [true]);
    assert.ok((await sizeOf(path)) > before);
  });
});
