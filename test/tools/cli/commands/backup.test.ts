import assert from 'node:assert/strict';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../../support/call-command.ts';
import { checkIntegrity } from '../../../support/sqlite-file.ts';
import { createAll, hostilePlants, readAll } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('plant-store backup', () => {
  it('creates a complete file that only its owner can read, and creates no other file', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), hostilePlants);
    const { code, stdout, stderr } = await callCommand(['backup', 'copy.db'], { cwd });
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^Backed up \d+ pages in \d+\.\d s \([\d,.]+ a second\)\.\n$/);
    assert.deepEqual(await readdir(cwd), ['copy.db', 'plants.db']);
    assert.equal((await stat(join(cwd, 'copy.db'))).mode & 0o777, 0o600);
    assert.equal(checkIntegrity(join(cwd, 'copy.db')), 'ok');
    assert.deepEqual(await readAll(join(cwd, 'copy.db')), hostilePlants);
  });

  it('rejects an existing target, even if the target is a dangling symbolic link', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), hostilePlants);
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada');
    await symlink('nothing', join(cwd, 'link'));
    for (const target of ['letter.txt', 'link', '.', 'plants.db']) {
      const { code, stderr } = await callCommand(['backup', target], { cwd });
      assert.equal(code, 1);
      const reason = 'already exists. A backup never overwrites a file: choose another name.';
      assert.equal(stderr, `plant-store: ${join(cwd, target)} ${reason}\n`);
    }
    assert.equal(await readFile(join(cwd, 'letter.txt'), 'utf8'), 'Dear Ada');
    assert.deepEqual(await readdir(cwd), ['letter.txt', 'link', 'plants.db']);
  });
});
