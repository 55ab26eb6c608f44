import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { rm, truncate } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { openDatabase } from '../../../src/storage/sqlite/database.ts';
import { OpenFiles } from '../../../src/storage/sqlite/open-files.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';
import { checkIntegrity, execute } from '../../support/sqlite-file.ts';
import { create } from '../../support/writes.ts';
import { folderIsSettled, ids, idsAfterCrash, newPath, openSqlite, sizeOf, unavailable } from './sqlite-state.ts';

const fifty = Array.from({ length: 50 }, (_, n) => n + 1);

const ways: [what: string, lose: (path: string) => Promise<void>, isSaved: boolean][] = [
  ['is removed', (path) => rm(`${path}-wal`), true],
  ['is removed with its index', (path) => Promise.all([rm(`${path}-wal`), rm(`${path}-shm`)]).then(), true],
  ['loses its index', (path) => rm(`${path}-shm`), true],
  ['is emptied', (path) => truncate(`${path}-wal`), false],
  ['is truncated', async (path) => truncate(`${path}-wal`, Math.floor((await sizeOf(`${path}-wal`)) / 2)), false],
];

for (const commitThread of [false, true]) {
  describe(
    `SqliteStorage${commitThread ? ' with a commit thread' : ''} whose write-ahead log`,
    { concurrency: true },
    () => {
      for (const [what, lose, isSaved] of ways) {
        it(`${what} rejects commits until it is opened again, and loses none that it accepted later`, async (t) => {
          const path = await newPath(t);
          const storage = openSqlite(t, path, { commitThread });
          await folderIsSettled();
          for (const id of fifty) await storage.commit([create(id)]);
          await lose(path);
          for (const id of [51, 52]) await assert.rejects(storage.commit([create(id)]), unavailable);
          const found = await idsAfterCrash(t, path);
          if (isSaved) assert.deepEqual(found.slice(0, 50), fifty);
          await storage.close();
          const again = openSqlite(t, path, { commitThread });
          assert.deepEqual(await ids(again), found);
          assert.deepEqual(await again.commit([create(53)]), [true]);
        });
      }

      it('is truncated before it is closed does not damage the file', async (t) => {
        const path = await newPath(t);
        const storage = openSqlite(t, path, { commitThread });
        await folderIsSettled();
        for (const id of fifty) await storage.commit([create(id)]);
        await truncate(`${path}-wal`, Math.floor((await sizeOf(`${path}-wal`)) / 2));
        const found = await idsAfterCrash(t, path);
        await storage.close();
        assert.deepEqual(await ids(openSqlite(t, path)), found);
        assert.equal(checkIntegrity(path), 'ok');
      });

      it('is removed while another process starts does not end that process’s WAL', async (t) => {
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

      it('is truncated by a checkpoint of another connection accepts commits', async (t) => {
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

describe('OpenFiles', () => {
  it('reports a WAL that was emptied between the check before a commit and the write', async (t) => {
    const path = await newPath(t);
    const files = new OpenFiles(path, openDatabase(path, 5000));
    t.after(() => {
      files.close();
    });
    const insert = (id: number): void => {
      files.checkBeforeCommit();
      if (id === 51) truncateSync(`${path}-wal`);
      files.database.exec(`INSERT INTO plants VALUES ('ada', ${id}, '', NULL)`);
      files.checkAfterCommit();
    };
    for (const id of fifty) insert(id);
    assert.throws(() => {
      insert(51);
    }, unavailable);
  });
});
