import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { createAll, hostilePlants, readAll } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const restore = ['restore', 'backup.db'];

describe('plant-store restore', () => {
  it('copies the backup to a new file that only its owner can read', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Restored .*plants\.db\.\n$/);
    assert.deepEqual(await readAll(join(cwd, 'plants.db')), hostilePlants);
    assert.equal((await stat(join(cwd, 'plants.db'))).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', 'plants.db']);
  });

  for (const names of [
    ['plants.db', 'plants.db-wal', 'plants.db-shm'],
    ['plants.db-wal'],
    ['plants.db-shm'],
    ['plants.db-journal'],
  ]) {
    it(`overwrites nothing if ${names.join(' and ')} exists, and prints a command that moves it away`, async (t) => {
      const cwd = await temporaryFolder(t);
      await createAll(join(cwd, 'backup.db'), hostilePlants);
      for (const name of names) await writeFile(join(cwd, name), name);
      const refused = await callCommand(restore, { cwd });
      assert.equal(refused.code, 1);
      assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', ...names].sort());
      const move = /^mkdir .*$/m.exec(refused.stderr)?.[0] ?? assert.fail(refused.stderr);
      execFileSync('sh', ['-c', move]);
      assert.deepEqual((await readdir(join(cwd, 'before-restore'))).sort(), [...names].sort());
      assert.equal((await callCommand(restore, { cwd })).code, 0);
      assert.deepEqual(await readAll(join(cwd, 'plants.db')), hostilePlants);
    });
  }

  it('does not follow a link to a file that does not exist', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    await symlink('nothing', join(cwd, 'plants.db'));
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /overwrites no file/);
    assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', 'plants.db']);
  });

  it('quotes the names in the command that it prints', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), []);
    await writeFile(join(cwd, "it's $HOME.db"), '');
    const { stderr } = await callCommand([...restore, '--storage', "sqlite:it's $HOME.db"], { cwd });
    execFileSync('sh', ['-c', /^mkdir .*$/m.exec(stderr)?.[0] ?? assert.fail(stderr)]);
    assert.deepEqual(await readdir(join(cwd, 'before-restore')), ["it's $HOME.db"]);
  });

  it('leaves no part of a copy behind if the backup is damaged', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    await truncate(join(cwd, 'backup.db'), 5000);
    const { code, stderr } = await callCommand(restore, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /backup\.db is damaged/);
    assert.deepEqual(await readdir(cwd), ['backup.db']);
  });
});
