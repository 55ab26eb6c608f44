import assert from 'node:assert/strict';
import { rename, rm, symlink } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';
import { checkIntegrity, execute } from '../../support/sqlite-file.ts';
import { create } from '../../support/writes.ts';
import { folderIsSettled, ids, idsAfterCrash, newPath, openSqlite, unavailable } from './sqlite-state.ts';

const fifty = Array.from({ length: 50 }, (_, n) => n + 1);

const ways: [what: string, lose: (path: string) => Promise<unknown>][] = [
  ['is removed', (path) => rm(`${path}-wal`)],
  ['is removed with its index', (path) => Promise.all([rm(`${path}-wal`), rm(`${path}-shm`)])],
  ['loses its index', (path) => rm(`${path}-shm`)],
  ['is left behind by a symbolic link', (path) => rename(path, `${path}.new`).then(() => symlink(`${path}.new`, path))],
];

for (const commitThread of [false, true]) {
  describe(
    `SqliteStorage${commitThread ? ' with a commit thread' : ''} and its write-ahead log`,
    { concurrency: true },
    () => {
      for (const [what, lose] of ways) {
        it(`rejects commits until it is reopened if the log ${what}, and loses none that it accepts later`, async (t) => {
          const path = await newPath(t);
          const storage = openSqlite(t, path, { commitThread });
          await folderIsSettled();
          for (const id of fifty) await storage.commit([create(id)]);
          await lose(path);
          for (const id of [51, 52]) await assert.rejects(storage.commit([create(id)]), unavailable);
          const found = await idsAfterCrash(t, path);
          assert.deepEqual(found.slice(0, 50), fifty);
          await storage.close();
          const again = openSqlite(t, path, { commitThread });
          assert.deepEqual(await ids(again), found);
          assert.deepEqual(await again.commit([create(53)]), [true]);
        });
      }

      it('keeps the log of a process that started after the first log was removed', async (t) => {
        const path = await newPath(t);
        const storage = openSqlite(t, path, { commitThread });
        execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
        await folderIsSettled();
        await storage.commit([create(1)]);
        for (const ending of ['-wal', '-shm']) await rm(path + ending);
        const program = `
        import { SqliteStorage } from '${sourceUrl('sqlite.ts')}';
        const storage = new SqliteStorage('${path}');
        for (let id = 2n; id < 100n; id++) {
          await storage.commit([{ kind: 'create', user: 'ada', plant: { id, name: 'Fern' } }]);
        }
        await storage.close();`;
        await runSuccessfully(process.execPath, evalArgs(program));
        await storage.close();
        assert.equal((await ids(openSqlite(t, path))).length, 98);
        assert.equal(checkIntegrity(path), 'ok');
      });

      it('accepts commits after a checkpoint of another connection has truncated the log', async (t) => {
        const path = await newPath(t);
        const storage = openSqlite(t, path, { commitThread });
        await folderIsSettled();
        for (const sql of ['', "INSERT INTO plants VALUES ('ada', -1, '', NULL)"]) {
          for (const id of fifty) assert.equal((await storage.commit([create(id)])).length, 1);
          execute(path, `PRAGMA wal_checkpoint(TRUNCATE); ${sql}`);
          assert.equal((await storage.commit([create(51)])).length, 1);
        }
        assert.deepEqual(await idsAfterCrash(t, path), [-1, ...fifty, 51]);
      });
    },
  );
}
