import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, readdir, rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { SqliteStorage } from '../../../../src/storage/sqlite/sqlite-storage.ts';
import { holdDatabase } from '../../../support/hold-database.ts';
import { execute, slowSql } from '../../../support/sqlite-file.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { create } from '../../../support/writes.ts';
import { ids, openSqlite, unavailable } from '../sqlite-state.ts';

interface Opened {
  readonly path: string;
  readonly storage: SqliteStorage;
}

async function open(t: HasAfter, busyTimeoutMs = 5000): Promise<Opened> {
  const path = join(await temporaryFolder(t), 'plants.db');
  const storage = openSqlite(t, path, { commitThread: true, busyTimeoutMs });
  return { path, storage };
}

/** Opens a storage whose worker thread has created the plant 1. */
async function openStarted(t: HasAfter, busyTimeoutMs?: number): Promise<Opened & { readonly worker: Worker }> {
  const opened = await open(t, busyTimeoutMs);
  const started = once(process, 'worker');
  assert.deepEqual(await opened.storage.commit([create(1)]), [true]);
  const [worker] = (await started) as [Worker];
  return { ...opened, worker };
}

describe('SqliteStorage with a commit thread', () => {
  it('lists plants while a commit runs', async (t) => {
    const { path, storage } = await openStarted(t);
    execute(path, `CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = 2 BEGIN ${slowSql}; END`);
    let lists = 0;
    let isOver = false;
    const committed = storage.commit([create(2)]).finally(() => {
      isOver = true;
    });
    while (!(isOver as boolean)) {
      assert.ok((await ids(storage)).length <= 2);
      lists++;
      await sleep(1);
    }
    assert.deepEqual(await committed, [true]);
    assert.ok(lists > 3, `${lists} lists`);
  });

  it('rejects with the same errors as without the thread', async (t) => {
    const folder = await temporaryFolder(t);
    const errors = await Promise.all(
      [false, true].map(async (commitThread) => {
        const path = join(folder, `${commitThread}.db`);
        const storage = openSqlite(t, path, { commitThread, busyTimeoutMs: 0 });
        const faults = ["SELECT RAISE(ABORT, 'a deliberate fault')", 'SELECT zeroblob(2000000000)'];
        for (const [id, sql] of faults.entries()) {
          execute(path, `CREATE TRIGGER t${id} BEFORE INSERT ON plants WHEN NEW.id = ${id} BEGIN ${sql}; END`);
        }
        const caught = [await failure(storage, 0), await failure(storage, 1)];
        const other = new DatabaseSync(path);
        other.exec('BEGIN IMMEDIATE');
        caught.push(await failure(storage, 2));
        other.close();
        return caught;
      }),
    );
    assert.deepEqual(errors[1], errors[0]);
    const codes = errors[0]?.map(({ code, errcode }) => code ?? errcode);
    assert.deepEqual(codes, ['ERR_SQLITE_ERROR', 'invalid_plant', 'ERR_SQLITE_ERROR']);
  });
});

describe('commit thread that ends', () => {
  it('rejects the commit that waits for a lock, and is started again', async (t) => {
    const { path, storage, worker } = await openStarted(t);
    await holdDatabase(t, path, 'BEGIN IMMEDIATE', 300);
    const rejected = assert.rejects(storage.commit([create(2)]), unavailable);
    await sleep(20);
    await worker.terminate();
    await rejected;
    assert.deepEqual(await storage.commit([create(3)]), [true]);
    assert.deepEqual(await ids(storage), [1, 3]);
  });

  it('rolls back its transaction and releases its locks', async (t) => {
    const { path, storage, worker } = await openStarted(t);
    execute(path, `CREATE TRIGGER slow AFTER INSERT ON plants WHEN NEW.id = 3 BEGIN ${slowSql}; END`);
    const rejected = assert.rejects(storage.commit([create(2), create(3)]), unavailable);
    await sleep(50);
    await worker.terminate();
    await rejected;
    assert.deepEqual(await storage.commit([create(4)]), [true]);
    assert.deepEqual(await ids(storage), [1, 4]);
  });

  it('rejects all pending commits', async (t) => {
    const { storage, worker } = await openStarted(t);
    const settled = Promise.allSettled([2, 3, 4].map((id) => storage.commit([create(id)])));
    void worker.terminate();
    for (const result of await settled) {
      if (result.status === 'rejected') assert.equal((result.reason as { code: string }).code, 'storage_unavailable');
    }
    assert.deepEqual(await storage.commit([create(5)]), [true]);
  });

  it('is started again if it ended while idle, but does not create a missing file or use another file', async (t) => {
    const { path, storage, worker } = await openStarted(t);
    await worker.terminate();
    await rename(path, `${path}.away`);
    const files = await readdir(join(path, '..'));
    const assertRefused = async (): Promise<void> => {
      await assert.rejects(storage.commit([create(2)]), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'storage_unavailable');
        assert.match(String(error.cause), /was removed or replaced/);
        return true;
      });
    };
    await assertRefused();
    assert.deepEqual(await readdir(join(path, '..')), files);
    await copyFile(`${path}.away`, path);
    await assertRefused();
    await rename(`${path}.away`, path);
    assert.deepEqual(await storage.commit([create(2)]), [true]);
    assert.deepEqual(await ids(storage), [1, 2]);
  });

  it('does not initialize an emptied file', async (t) => {
    const { path, storage, worker } = await openStarted(t, 100);
    await worker.terminate();
    execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
    await truncate(path, 0);
    await assert.rejects(storage.commit([create(2)]), unavailable);
    assert.equal((await stat(path)).size, 0);
  });
});

describe('close of a SqliteStorage with a commit thread', () => {
  it('settles pending commits, ends the thread, and can be repeated', async (t) => {
    const { path, storage, worker } = await openStarted(t);
    let hasExited = false;
    worker.once('exit', () => {
      hasExited = true;
    });
    const committed = storage.commit([create(2)]);
    await Promise.all([storage.close(), storage.close()]);
    assert.ok(hasExited);
    assert.deepEqual(await committed, [true]);
    await storage.close();
    await assert.rejects(storage.commit([create(3)]), { code: 'closed' });
    assert.deepEqual(await readdir(join(path, '..')), ['plants.db']);
    const again = openSqlite(t, path);
    assert.deepEqual(await ids(again), [1, 2]);
  });

  it('resolves if the thread has never started, or has ended', async (t) => {
    const { storage } = await open(t);
    await storage.close();
    const started = await openStarted(t);
    void started.worker.terminate();
    await started.storage.close();
  });
});

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: unknown;
  readonly errcode: unknown;
  readonly cause: Failure | undefined;
}

async function failure(storage: SqliteStorage, id: number): Promise<Failure> {
  const error: unknown = await storage.commit([create(id)]).then(
    () => assert.fail('The commit succeeded'),
    (reason: unknown) => reason,
  );
  return describeError(error as Error);
}

function describeError(error: Error & { code?: unknown; errcode?: unknown }): Failure {
  const { name, message, code, errcode, cause } = error;
  assert.ok(error instanceof Error);
  assert.match(error.stack ?? '', /commitNow/);
  return { name, message, code, errcode, cause: cause === undefined ? undefined : describeError(cause as Error) };
}
