import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStorage, parseStorage } from '../../src/cli/storage.ts';
import { assertFails, callCommand } from '../support/call-command.ts';
import { createAll, readAll, rowOfPlants } from '../support/stored-plants.ts';
import { mountSmallFolder } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTokenServer } from '../support/token-server.ts';

const reading = ['backup copy.db', 'export', 'copy --from sqlite:plants.db --to sqlite:new.db'];

it('openStorage › starts a worker thread for commits only with "sqlite:FILE?commitThread=true"', async (t) => {
  const file = join(await temporaryFolder(t), 'plants.db');
  const onWorker = t.mock.fn();
  process.on('worker', onWorker);
  t.after(() => process.off('worker', onWorker));
  for (const [thread, expected] of Object.entries({ '': 0, '?commitThread=false': 0, '?commitThread=true': 1 })) {
    const location = parseStorage({ value: `sqlite:${file}${thread}`, source: '--storage' }, ['sqlite']);
    await openStorage(location).close();
    assert.equal(onWorker.mock.callCount(), expected, thread);
  }
});

it('plant-store commands › name the file if a disk is full or read-only, and leave no partial backup', async (t) => {
  const full = await mountSmallFolder(t);
  if (full === undefined) return;
  const { bsize, bavail } = await statfs(full);
  // One block is left for the tokens file, and none for first-token.txt.
  await writeFile(join(full, 'large'), Buffer.alloc((bavail - 1) * bsize));
  await assertFails('serve --port 0 --storage memory', { cwd: full }, 'ENOSPC');
  assert.deepEqual(await readdir(full), ['large']);
  await rm(join(full, 'large'));
  const cwd = await temporaryFolder(t);
  await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
  for (const command of [
    `backup ${full}/copy.db`,
    `restore plants.db --storage sqlite:${full}/copy.db`,
    `copy --from sqlite:plants.db --to sqlite:${full}/copy.db`,
  ]) {
    assert.deepEqual(await readdir(full), []);
    await assertFails(command, { cwd }, /\/copy\.db\b.*full/);
  }
  await assertFails(`serve --port 0 --storage sqlite:${full}/new.db`, { cwd }, /\/new\.db cannot be used: .*full/);
  // The commands keep the target of a failed copy, because a copy can be continued.
  for (const name of await readdir(full)) await rm(join(full, name));
  await createAll(join(full, 'plants.db'), rowOfPlants('ada', 1));
  execFileSync('mount', ['-o', 'remount,ro', full]);
  await assertFails('import', { cwd: full }, join(full, 'plants.db'));
  const exported = await callCommand(['export'], { cwd: full });
  assert.equal(exported.code, 0, exported.stderr);
});

it('plant-store commands › name a damaged SQLite file, and do not change it', async (t) => {
  const cwd = await temporaryFolder(t);
  const file = join(cwd, 'plants.db');
  await createAll(file, rowOfPlants('ada', 20_000));
  const content = await readFile(file);
  const half = content.length / 2;
  // The schema and the first plants stay readable. First, the test damages one page that only a backup reads.
  for (const { end, commands } of [
    { end: half + 4096, commands: ['backup copy.db', 'restore plants.db --storage sqlite:other.db'] },
    { end: content.length, commands: reading },
  ]) {
    await writeFile(file, content.fill(0xff, half, end));
    for (const command of commands) await assertFails(command, { cwd }, /\/plants\.db .*(damaged|malformed)/);
    assert.deepEqual(await readFile(file), content);
    assert.ok(!(await readdir(cwd)).some((name) => /^(?:copy|other)/.test(name)));
  }
});

it('plant-store commands › do not change the files that they read, even if SIGQUIT left a WAL', async (t) => {
  const { cwd, server, create } = await startTokenServer(t, []);
  await create(1);
  assert.equal(await server.stop('SIGQUIT'), null);
  const names = ['plants.db', 'plants.db-wal'];
  const contents = (): Promise<Buffer[]> => Promise.all(names.map((name) => readFile(join(cwd, name))));
  const before = await contents();
  for (const command of reading) assert.equal((await callCommand(command.split(' '), { cwd })).code, 0, command);
  assert.deepEqual(await contents(), before);
  for (const name of ['copy.db', 'new.db']) assert.equal((await readAll(join(cwd, name))).length, 1, name);
});

it('plant-store commands › create no file if the SQLite file is missing or is not a database', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'letter.txt'), 'Dear Ada, '.repeat(100));
  for (const command of reading) await assertFails(command, { cwd }, 'There is no file');
  const problem = `${join(cwd, 'letter.txt')} is not an SQLite database`;
  for (const command of [
    'export --storage sqlite:letter.txt',
    'copy --from sqlite:letter.txt --to sqlite:new.db',
    'backup --storage sqlite:letter.txt copy.db',
    'restore letter.txt --storage sqlite:new.db',
  ]) {
    await assertFails(command, { cwd }, problem);
  }
  await assertFails('serve --port 0 --storage sqlite:letter.txt', { cwd }, problem, 2);
  assert.deepEqual(await readdir(cwd), ['letter.txt']);
});
