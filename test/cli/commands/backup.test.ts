import assert from 'node:assert/strict';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { spawnCommand } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { finish } from '../../support/run-program.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('plant-store backup', () => {
  it('creates a complete file that only its owner can read, and creates no other file', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), hostilePlants);
    const { code, stdout, stderr } = await callCommand(['backup', 'copy.db'], { cwd });
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^Backed up /);
    assert.deepEqual(await readdir(cwd), ['copy.db', 'plants.db']);
    assert.equal((await stat(join(cwd, 'copy.db'))).mode & 0o777, 0o600);
    assert.equal(checkIntegrity(join(cwd, 'copy.db')), 'ok');
    assert.deepEqual(await readAll(join(cwd, 'copy.db')), hostilePlants);
  });

  it('rejects an existing target and a target in a folder that does not exist', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), hostilePlants);
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada');
    await symlink('nothing', join(cwd, 'link'));
    for (const target of ['letter.txt', 'link', '.', 'plants.db', 'none/copy.db']) {
      const { code, stderr } = await callCommand(['backup', target], { cwd });
      assert.equal(code, 1);
      assert.match(stderr, target.startsWith('none') ? /There is no folder/ : /already exists/);
    }
    assert.equal(await readFile(join(cwd, 'letter.txt'), 'utf8'), 'Dear Ada');
    assert.deepEqual(await readdir(cwd), ['letter.txt', 'link', 'plants.db']);
  });

  it('says on a signal that nothing was changed, and removes the unfinished copy', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 200_000));
    const child = spawnCommand(['backup', 'copy.db'], { cwd });
    const finished = finish(child);
    await eventually(async () => {
      assert.ok((await readdir(cwd)).some((name) => name.startsWith('copy.db')));
    });
    child.kill('SIGTERM');
    const { code, stderr } = await finished;
    assert.equal(code, 143, stderr);
    assert.match(stderr, /Interrupted: nothing was changed/);
    assert.deepEqual(await readdir(cwd), ['plants.db']);
  });
});
