import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { create } from '../../../src/testing/plants.ts';
import { evalArgs, runSuccessfully } from '../../support/run-program.ts';
import { sourceUrl } from '../../support/sources.ts';
import { checkIntegrity, execute } from '../../support/sqlite-file.ts';
import { createAll } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { ids, idsAfterCrash, isLoss, newPath, openSqlite } from './sqlite-state.ts';

const endings = ['', '-wal', '-shm'];
const fifty = Array.from({ length: 50 }, (_, n) => n + 1);

/** Waits until the check after a commit trusts the timestamp of the folder. */
const folderIsSettled = (): Promise<void> => sleep(2100);

interface Loss {
  readonly prepare?: (path: string) => Promise<unknown>;
  readonly lose: (path: string) => Promise<unknown>;
}

const fileLosses: Record<string, Loss> = {
  'is removed': { lose: (path) => rm(path) },
  'is replaced': {
    prepare: (path) => createAll(`${path}.other`, []),
    lose: (path) => rename(`${path}.other`, path),
  },
  'is a symbolic link and another file becomes its target': {
    prepare: async (path) => {
      for (const target of [`${path}.first`, `${path}.second`]) await createAll(target, []);
      await symlink(`${path}.first`, path);
    },
    lose: (path) => symlink(`${path}.second`, `${path}.new`).then(() => rename(`${path}.new`, path)),
  },
};

const walLosses: Record<string, Loss> = {
  'is removed': { lose: (path) => rm(`${path}-wal`) },
  'is removed with its index': { lose: (path) => rm(`${path}-shm`).then(() => rm(`${path}-wal`)) },
  'loses its index': { lose: (path) => rm(`${path}-shm`) },
  'is left behind by a symbolic link': {
    lose: (path) => rename(path, `${path}.new`).then(() => symlink(`${path}.new`, path)),
  },
  'is removed in another folder, to which a symbolic link points': {
    prepare: async (path) => {
      await mkdir(`${path}.folder`);
      await createAll(`${path}.folder/target.db`, []);
      await symlink(`${path}.folder/target.db`, path);
    },
    lose: (path) => rm(`${path}.folder/target.db-wal`),
  },
};

describe('SqliteStorage whose files are lost', { concurrency: true }, () => {
  testLosses(false);
});
describe('SqliteStorage with a commit thread whose files are lost', { concurrency: true }, () => {
  testLosses(true);
});

function testLosses(commitThread: boolean): void {
  /** Opens a storage with the plants 1 to 50, whose folder has not changed for some time. */
  async function open(t: HasAfter, path: string): Promise<SqliteStorage> {
    const storage = openSqlite(t, path, { commitThread });
    await storage.commit([create(1)]);
    await folderIsSettled();
    for (const id of fifty.slice(1)) assert.deepEqual(await storage.commit([create(id)]), [true]);
    return storage;
  }

  async function assertLost(storage: SqliteStorage): Promise<void> {
    for (const id of [51, 52]) await assert.rejects(storage.commit([create(id)]), isLoss);
    assert.deepEqual((await ids(storage)).slice(0, 50), fifty);
  }

  /** Causes each loss in a storage of its own, and runs the check. The losses are independent and run concurrently. */
  async function checkEach(
    t: HasAfter,
    losses: Record<string, Loss>,
    check: (storage: SqliteStorage, path: string) => Promise<void>,
  ): Promise<void> {
    const named = Object.entries(losses).map(async ([what, { prepare, lose }]) => {
      const path = await newPath(t);
      await prepare?.(path);
      const storage = await open(t, path);
      await lose(path);
      await assert.doesNotReject(check(storage, path), what);
    });
    await Promise.all(named);
  }

  it('SqliteStorage whose file was lost › rejects commits, and changes no other file', async (t) => {
    await checkEach(t, fileLosses, async (storage, path) => {
      const bytes = await readFile(path).catch(() => undefined);
      await assertLost(storage);
      await storage.close();
      assert.deepEqual(await readFile(path).catch(() => undefined), bytes);
    });
  });

  it('SqliteStorage whose file was moved › accepts commits after it is moved back and reopened', async (t) => {
    const path = await newPath(t);
    const storage = await open(t, path);
    for (const ending of endings) await rename(path + ending, `${path}.away${ending}`);
    // The timestamp of the folder shows even a change that is not recent.
    await folderIsSettled();
    await assertLost(storage);
    for (const ending of endings) await rename(`${path}.away${ending}`, path + ending);
    await assertLost(storage);
    const found = await ids(storage);
    await storage.close();
    const again = openSqlite(t, path, { commitThread });
    assert.deepEqual(await again.commit([create(53)]), [true]);
    assert.deepEqual(await ids(again), [...found, 53]);
  });

  const skip = process.platform === 'linux' ? false : 'needs /proc';
  it('SqliteStorage closes its files even if its path has become a link to itself', { skip }, async (t) => {
    const path = await newPath(t);
    const storage = openSqlite(t, path, { commitThread });
    await storage.commit([create(1)]);
    await rename(path, `${path}.moved`);
    await symlink(path, path);
    await storage.close();
    for (const descriptor of await readdir('/proc/self/fd')) {
      const target = await readlink(`/proc/self/fd/${descriptor}`).catch(() => '');
      assert.ok(!target.startsWith(path), target);
    }
  });

  it('SqliteStorage whose WAL was lost › rejects commits until it is reopened, but keeps its plants', async (t) => {
    await checkEach(t, walLosses, async (storage, path) => {
      await assertLost(storage);
      const found = await idsAfterCrash(t, path);
      assert.deepEqual(found.slice(0, 50), fifty);
      await storage.close();
      const again = openSqlite(t, path, { commitThread });
      assert.deepEqual(await ids(again), found);
      assert.deepEqual(await again.commit([create(53)]), [true]);
    });
  });

  it('SqliteStorage whose WAL was removed › does not remove the WAL of a later process on close', async (t) => {
    const path = await newPath(t);
    const storage = await open(t, path);
    execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
    await storage.commit([create(51)]);
    for (const ending of ['-wal', '-shm']) await rm(path + ending);
    const program = `
        import { SqliteStorage } from '${sourceUrl('sqlite.ts')}';
        const storage = new SqliteStorage('${path}');
        for (let id = 52n; id < 100n; id++) {
          await storage.commit([{ kind: 'create', user: 'ada', plant: { id, name: 'Fern' } }]);
        }
        await storage.close();`;
    await runSuccessfully(process.execPath, evalArgs(program));
    await storage.close();
    assert.equal((await ids(openSqlite(t, path))).length, 98);
    assert.equal(checkIntegrity(path), 'ok');
  });

  it('SqliteStorage accepts commits after another connection truncates its WAL in a checkpoint', async (t) => {
    const path = await newPath(t);
    const storage = await open(t, path);
    for (const id of [51, 53]) {
      execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
      assert.deepEqual(await storage.commit([create(id)]), [true]);
      execute(path, `PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO plants VALUES ('ada', ${id + 1}, '', NULL)`);
    }
    assert.deepEqual(await idsAfterCrash(t, path), [...fifty, 51, 52, 53, 54]);
  });
}
