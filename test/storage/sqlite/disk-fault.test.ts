import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAll, owned, rowOfPlants } from '../../support/stored-plants.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { create, remove } from '../../support/writes.ts';
import { ids, idsAfterCrash, makeCrashed, newPath, openSqlite, sizeOf, whileStuck } from './sqlite-state.ts';

/** The WAL size at which SQLite runs a checkpoint: 4000 pages, each with a header. */
const fullWalBytes = 4000 * (4096 + 24);

const twenty = Array.from({ length: 20 }, (_, n) => n + 1);

for (const commitThread of [false, true]) {
  describe(`SqliteStorage${commitThread ? ' with a commit thread' : ''} over a failing disk`, () => {
    it('rejects commits and continues to list plants until the disk works again', async (t) => {
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

    it('acknowledges a commit whose checkpoint failed, because the commit is in the WAL', async (t) => {
      if (!hasProgram(t, 'prlimit')) return;
      const path = await newPath(t);
      const name = 'long'.repeat(1000);
      await createAll(
        path,
        rowOfPlants('ada', 4500).map(({ plant }) => owned('ada', { ...plant, name })),
      );
      const storage = openSqlite(t, path, { commitThread });
      const before = await sizeOf(path);
      let id = -1;
      await whileStuck(async () => {
        for (; (await sizeOf(`${path}-wal`)) <= fullWalBytes + 200_000; id -= 20) {
          const writes = Array.from({ length: 20 }, (_, n) => create(id - n, 'bob', name));
          assert.deepEqual(new Set(await storage.commit(writes)), new Set([true]));
        }
      }, fullWalBytes + 500_000);
      assert.equal(await sizeOf(path), before);
      assert.deepEqual(await storage.commit([remove(-1, 'bob')]), [true]);
      assert.ok((await sizeOf(path)) > before);
    });

    it('lists the plants of a WAL that a crash left behind and that cannot be checkpointed', async (t) => {
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
  });
}
