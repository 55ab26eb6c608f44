import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAll, owned, rowOfPlants } from '../../support/stored-plants.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { create, remove } from '../../support/writes.ts';
import { newPath, openSqlite, sizeOf, whileStuck } from './sqlite-state.ts';

/** The size at which SQLite checkpoints the WAL: 4000 pages, each with a header. */
const fullLogBytes = 4000 * (4096 + 24);

describe('commit to SQLite after which the WAL checkpoint fails', () => {
  it('succeeds, because the WAL contains it', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const path = await newPath(t);
    const name = 'long'.repeat(1000);
    await createAll(
      path,
      rowOfPlants('ada', 4500).map(({ user, plant }) => owned(user, { ...plant, name })),
    );
    const storage = openSqlite(t, path);
    const [before, version] = [await sizeOf(path), storage.dataVersion()];
    // Too small for the file after a checkpoint, and large enough for a full WAL.
    const limit = fullLogBytes + 500_000;
    assert.ok(before > limit);
    await whileStuck(async () => {
      for (let id = -1n; (await sizeOf(`${path}-wal`)) <= fullLogBytes + 200_000; id -= 20n) {
        const writes = Array.from({ length: 20 }, (_, n) => create(id - BigInt(n), 'ada', name));
        assert.deepEqual(new Set(await storage.commit(writes)), new Set([true]));
      }
    }, limit);
    assert.equal(await sizeOf(path), before);
    assert.equal(storage.dataVersion(), version, 'the file was not reopened');
    assert.deepEqual(await storage.commit([remove(-1n)]), [true]);
    assert.ok((await sizeOf(path)) > before);
  });
});
