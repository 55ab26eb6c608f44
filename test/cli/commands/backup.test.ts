import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assertFails, callCommand } from '../../support/call-command.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('plant-store backup and restore › create a complete copy with mode 0600, and change no existing file', async (t) => {
  const cwd = await temporaryFolder(t);
  await createAll(join(cwd, 'plants.db'), hostilePlants);
  for (const [command, file] of [
    ['backup copy.db', 'copy.db'],
    ['restore copy.db --storage sqlite:new.db', 'new.db'],
  ] as const) {
    const { code, stdout, stderr } = await callCommand(command.split(' '), { cwd });
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, new RegExp(`^Copied .*\\.db to .*/${file}\\.\\n$`));
    assert.equal((await stat(join(cwd, file))).mode & 0o777, 0o600);
    assert.equal(checkIntegrity(join(cwd, file)), 'ok');
    assert.deepEqual(await readAll(join(cwd, file)), hostilePlants);
  }
  await symlink('nothing', join(cwd, 'link'));
  await mkdir(join(cwd, 'folder'));
  for (const target of ['copy.db', 'link', 'folder', 'plants.db']) {
    await assertFails(`backup ${target}`, { cwd }, 'already exists');
  }
  await assertFails('backup none/copy.db', { cwd }, 'There is no folder');
  await assertFails('restore none.db', { cwd }, 'There is no file');
  assert.deepEqual(await readAll(join(cwd, 'copy.db')), hostilePlants);
  assert.deepEqual((await readdir(cwd)).sort(), ['copy.db', 'folder', 'link', 'new.db', 'plants.db']);
});

it('plant-store backup › removes the unfinished copy on a signal, and says that nothing was changed', async (t) => {
  const cwd = await temporaryFolder(t);
  // The backup of this file has several steps.
  const plants = rowOfPlants('ada', 5000, 'x'.repeat(2000));
  await createAll(join(cwd, 'plants.db'), plants);
  const finished = callCommand(['backup', 'copy.db'], { cwd });
  await nextTurn();
  assert.ok(process.emit('SIGTERM', 'SIGTERM'));
  const { code, stderr } = await finished;
  assert.equal(code, 143, stderr);
  assert.match(stderr, /Interrupted: nothing was changed/);
  assert.deepEqual(await readdir(cwd), ['plants.db']);
});

it('plant-store restore › overwrites nothing, and prints a command that moves the existing files away', async (t) => {
  const cwd = await temporaryFolder(t);
  await createAll(join(cwd, 'backup.db'), hostilePlants);
  const file = "it's $HOME.db";
  const sideFiles = ['-journal', '-shm', '-wal'].map((ending) => file + ending);
  const restore = ['restore', 'backup.db', '--storage', `sqlite:${file}`];
  // A link to a file that does not exist would make the restored file appear elsewhere.
  await symlink('nothing', join(cwd, file));
  for (const name of sideFiles) await writeFile(join(cwd, name), name);

  const refused = await callCommand(restore, { cwd });

  assert.equal(refused.code, 1);
  assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', file, ...sideFiles]);
  execFileSync('sh', ['-c', /^mkdir .*$/m.exec(refused.stderr)?.[0] ?? assert.fail(refused.stderr)]);
  // The date lets a second restore move the files away again.
  const folder = (await readdir(cwd)).find((name) => /^before-restore-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d$/.test(name));
  assert.deepEqual((await readdir(join(cwd, folder ?? ''))).sort(), [file, ...sideFiles]);
  await writeFile(join(cwd, `${file}-wal`), '');
  assert.match((await callCommand(restore, { cwd })).stderr, /^mkdir .*-wal' /m);
  await rm(join(cwd, `${file}-wal`));
  assert.equal((await callCommand(restore, { cwd })).code, 0);
  assert.deepEqual(await readAll(join(cwd, file)), hostilePlants);
});
