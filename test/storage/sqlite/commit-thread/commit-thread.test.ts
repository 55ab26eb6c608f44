import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, cp, readdir, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { create } from '../../../../src/testing/plants.ts';
import { evalArgs, plainEnvironment, runProgram, runSuccessfully } from '../../../support/run-program.ts';
import { root, sourceUrl } from '../../../support/sources.ts';
import { execute, slowSql } from '../../../support/sqlite-file.ts';
import { createAll } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
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

it('commit thread › rejects pending commits if it ends during a commit, and restarts for the next', async (t) => {
  const { path, storage, worker } = await openStarted(t);
  const body = `${slowSql};`.repeat(3);
  execute(path, `CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = 3 BEGIN ${body} END`);
  const commits = [storage.commit([create(2), create(3)]), storage.commit([create(4)])];
  const rejected = Promise.all(commits.map((commit) => assert.rejects(commit, unavailable)));
  await sleep(50);
  await worker.terminate();
  await rejected;
  assert.deepEqual(await storage.commit([create(5)]), [true]);
  assert.deepEqual(await ids(storage), [1, 5]);
});

it('commit thread › restarts after it ended while idle, unless the file is lost or changed', async (t) => {
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

it('SqliteStorage finishes commits when it is closed, and ends the commit thread', async (t) => {
  const { path, storage, worker } = await openStarted(t);
  const exited = once(worker, 'exit');
  const committed = storage.commit([create(2)]);
  await storage.close();
  assert.deepEqual(await committed, [true]);
  assert.deepEqual(await readdir(dirname(path)), ['plants.db']);
  await exited;
  await openSqlite(t, await newPath(t), { commitThread: true }).close();
  const started = await openStarted(t);
  void started.worker.terminate();
  await started.storage.close();
});

it('commit thread › rejects commits with the reason if it cannot load its code', async (t) => {
  const src = join(await temporaryFolder(t), 'src');
  await cp(join(root, 'src'), src, { recursive: true });
  await writeFile(join(src, 'storage/sqlite/commit-thread/worker.ts'), "import './missing.ts';");
  const { SqliteStorage } = (await import(join(src, 'sqlite.ts'))) as typeof import('../../../../src/sqlite.ts');
  const storage = new SqliteStorage(await newPath(t), { commitThread: true });
  for (let n = 0; n < 2; n++) {
    await assert.rejects(storage.commit([create(1)]), (error: Error) => {
      assert.match(String(error.cause), /Cannot find module .*missing/);
      return unavailable.code === (error as Error & { code?: string }).code;
    });
  }
  assert.deepEqual(await ids(storage), []);
  await storage.close();
});

it('commit thread › keeps Node.js running only during a commit or close, and prints at most one warning', async (t) => {
  const cwd = await temporaryFolder(t);
  const path = join(cwd, 'plants.db');
  await createAll(path, []);
  execute(path, `CREATE TRIGGER slow BEFORE INSERT ON plants WHEN NEW.id = 2 BEGIN ${slowSql}; END`);
  const text = `
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    const storage = new SqliteStorage('plants.db', { commitThread: true });
    const create = (id) => storage.commit([{ kind: 'create', user: 'ada', plant: { id, name: 'Fern' } }]);
    void create(1n).then((outcomes) => console.log('first', outcomes[0]));
    void create(2n).then((outcomes) => console.log('second', outcomes[0]));
    process.once('beforeExit', () => void storage.close().then(() => console.log('closed')));`;
  const { code, stdout, stderr } = await runProgram(process.execPath, evalArgs(text), { cwd, timeoutMs: 120_000 });
  assert.deepEqual([code, stdout], [0, 'first true\nsecond true\nclosed\n'], stderr);
  assert.ok(stderr.split('SQLite is an experimental feature').length <= 2, stderr);
});

it('commit thread › does not run the modules that the process preloads, so a preload can open a store', async (t) => {
  const cwd = await temporaryFolder(t);
  const code = `
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    const storage = new SqliteStorage('plants.db', { commitThread: true });
    console.log(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: BigInt(process.pid), name: '' } }]));
    await storage.close();`;
  await writeFile(join(cwd, 'preload.mjs'), code);
  const NODE_OPTIONS = `${process.env['NODE_OPTIONS'] ?? ''} --import=./preload.mjs`;
  const env = { ...plainEnvironment(), NODE_OPTIONS };
  assert.equal(await runSuccessfully(process.execPath, ['--eval', '0'], { cwd, env }), '[ true ]\n');
});

it('SqliteStorage runs with permission only for its code and folder, but without a commit thread', async (t) => {
  const cwd = await temporaryFolder(t);
  const code = `
    import { readdirSync } from 'node:fs';
    import { SqliteStorage } from '${sourceUrl('storage/sqlite/sqlite-storage.ts')}';
    try { new SqliteStorage('plants.db', { commitThread: true }); } catch (error) { console.log(error.code); }
    const storage = new SqliteStorage('plants.db');
    console.log(await storage.commit([{ kind: 'create', user: 'ada', plant: { id: 1n, name: 'Fern' } }]));
    await storage.close();
    console.log(readdirSync('.').sort().join());`;
  await writeFile(join(cwd, 'program.mjs'), code);
  const folders = [`--allow-fs-read=${root}`, `--allow-fs-read=${cwd}`, `--allow-fs-write=${cwd}`];
  const stdout = await runSuccessfully(process.execPath, ['--permission', ...folders, 'program.mjs'], { cwd });
  // The constructor that threw an error has closed the file. Otherwise, its WAL would still exist.
  assert.equal(stdout, 'ERR_ACCESS_DENIED\n[ true ]\nplants.db,program.mjs\n');
});
