import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
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

  it('overwrites nothing, and prints a command that moves the database file and its side files away', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), hostilePlants);
    const file = "it's $HOME.db";
    const names = ['', '-journal', '-shm', '-wal'].map((ending) => file + ending);
    // A link to a file that does not exist would make the restored file appear elsewhere.
    await symlink('nothing', join(cwd, file));
    for (const name of names.slice(1)) await writeFile(join(cwd, name), name);
    const args = [...restore, '--storage', `sqlite:${file}`];

    const refused = await callCommand(args, { cwd });

    assert.equal(refused.code, 1);
    assert.deepEqual((await readdir(cwd)).sort(), ['backup.db', ...names]);
    execFileSync('sh', ['-c', /^mkdir .*$/m.exec(refused.stderr)?.[0] ?? assert.fail(refused.stderr)]);
    assert.deepEqual((await readdir(join(cwd, 'before-restore'))).sort(), names);
    assert.equal((await callCommand(args, { cwd })).code, 0);
    assert.deepEqual(await readAll(join(cwd, file)), hostilePlants);
  });

  it('refuses to restore to a file of which only a side file exists', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'backup.db'), []);
    for (const name of ['plants.db-wal', 'plants.db-shm', 'plants.db-journal']) {
      await writeFile(join(cwd, name), '');
      assert.match((await callCommand(restore, { cwd })).stderr, new RegExp(`^mkdir .*/${name} `, 'm'));
      await rm(join(cwd, name));
    }
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
