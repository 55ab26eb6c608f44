import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { hasProgram, limitFileSize } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create, remove } from '../../support/writes.ts';

/** The size at which SQLite checkpoints the WAL: 1000 pages, each with a header. */
const fullLogBytes = 1000 * (4096 + 24);

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size;

describe('commit to SQLite after which the WAL checkpoint fails', () => {
  it('succeeds, because the WAL contains it', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const path = join(await temporaryFolder(t), 'plants.db');
    const name = 'long'.repeat(1000);
    const made = Array.from(
      { length: 1500 },
      (_, id) => ({ kind: 'create', user: 'ada', plant: { id: BigInt(id), name } }) as const,
    );
    const first = new SqliteStorage(path);
    await first.commit(made);
    await first.close();

    const storage = new SqliteStorage(path);
    t.after(() => storage.close());
    const [before, version] = [await sizeOf(path), storage.dataVersion()];
    // Too small for the file after a checkpoint, and large enough for a full WAL.
    const limit = fullLogBytes + 500_000;
    assert.ok(before > limit);
    limitFileSize(process.pid, limit);
    try {
      for (let id = -1n; !((await sizeOf(`${path}-wal`)) > fullLogBytes + 200_000); id--) {
        assert.deepEqual(await storage.commit([create(id, 'ada', name)]), [true]);
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
