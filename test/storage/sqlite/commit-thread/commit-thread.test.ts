import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { holdDatabase } from '../../../support/hold-database.ts';
import { execute, slowSql } from '../../../support/sqlite-file.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { create } from '../../../support/writes.ts';
import { ids, isLoss, newPath, openSqlite, unavailable } from '../sqlite-state.ts';

/** Opens a storage whose worker thread has created plant 1. */
async function openStarted(t: HasAfter, busyTimeoutMs = 60_000) {
  const path = await newPath(t);
  const storage = openSqlite(t, path, { commitThread: true, busyTimeoutMs });
  const started = once(process, 'worker');
  assert.deepEqual(await storage.commit([create(1)]), [true]);
  const [worker] = (await started) as [Worker];
  return { path, storage, worker };
}

/** Makes the creation of a plant take about a second. */
function slowDown(path: string, id: number): void {
  execute(path, `CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = ${id} BEGIN ${`${slowSql};`.repeat(3)} END`);
}

const blocks: Record<string, (t: HasAfter, path: string) => Promise<void>> = {
  'waits for a lock': (t, path) => holdDatabase(t, path, 'BEGIN IMMEDIATE', 1500),
  'is running': async (_, path) => {
    slowDown(path, 3);
  },
};
for (const [what, block] of Object.entries(blocks)) {
  it(`commit thread › rejects and rolls back all commits, and restarts, if it ends while one ${what}`, async (t) => {
    const { path, storage, worker } = await openStarted(t);
    await block(t, path);
    const commits = [storage.commit([create(2), create(3)]), storage.commit([create(4)])];
    const rejected = Promise.all(commits.map((commit) => assert.rejects(commit, unavailable)));
    await sleep(50);
    await worker.terminate();
    await rejected;
    assert.deepEqual(await storage.commit([create(5)]), [true]);
    assert.deepEqual(await ids(storage), [1, 5]);
  });
}

it('commit thread › is restarted if it ended while idle, but does not create or change a file', async (t) => {
  const { path, storage, worker } = await openStarted(t, 100);
  await worker.terminate();
  await rename(path, `${path}.away`);
  const files = await readdir(dirname(path));
  await assert.rejects(storage.commit([create(2)]), isLoss);
  assert.deepEqual(await readdir(dirname(path)), files);
  await copyFile(`${path}.away`, path);
  await assert.rejects(storage.commit([create(2)]), isLoss);
  await rename(`${path}.away`, path);
  execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
  const content = await readFile(path);
  await truncate(path);
  await assert.rejects(storage.commit([create(2)]), unavailable);
  assert.equal((await readFile(path)).length, 0);
  await writeFile(path, content);
  assert.deepEqual(await storage.commit([create(2)]), [true]);
  assert.deepEqual(await ids(storage), [1, 2]);
});

it('close of a SqliteStorage settles pending commits, ends the commit thread, and checkpoints the WAL', async (t) => {
  const { path, storage, worker } = await openStarted(t);
  const exited = once(worker, 'exit');
  const committed = storage.commit([create(2)]);
  await storage.close();
  assert.deepEqual(await committed, [true]);
  assert.deepEqual(await readdir(dirname(path)), ['plants.db']);
  await exited;
});

it('close of a SqliteStorage resolves if the commit thread has never committed, or has ended', async (t) => {
  await openSqlite(t, await newPath(t), { commitThread: true }).close();
  const started = await openStarted(t);
  void started.worker.terminate();
  await started.storage.close();
});

it('the constructor of a SqliteStorage throws an error and closes the file if the commit thread does not start', async (t) => {
  const path = await newPath(t);
  t.mock.method(Atomics, 'wait', () => 'timed-out');
  assert.throws(() => openSqlite(t, path, { commitThread: true }), /did not start/);
  assert.deepEqual(await readdir(dirname(path)), ['plants.db']);
});
