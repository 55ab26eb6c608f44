import assert from 'node:assert/strict';
import { open, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { spawnCommand } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { finish } from '../../support/run-program.ts';
import { createAll, owned, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const fromTo = ['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:b.db'];

describe('plant-store copy', () => {
  it('names the damaged file if it is the source', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 3000));
    const file = await open(join(cwd, 'a.db'), 'r+');
    // The pages that follow the first one of the table are overwritten.
    await file.write(Buffer.alloc(16_384, 'x'), 0, undefined, 16_384);
    await file.close();
    const { code, stderr } = await callCommand(fromTo, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /a\.db cannot be used: .*malformed/);
    assert.doesNotMatch(stderr, /b\.db/);
  });

  it('refuses to copy a file to itself, even through a link', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
    await symlink('a.db', join(cwd, 'b.db'));
    for (const to of ['a.db', './a.db?commitThread=true', 'b.db']) {
      const { code, stderr } = await callCommand(['copy', '--from', 'sqlite:a.db', '--to', `sqlite:${to}`], { cwd });
      assert.equal(code, 2);
      assert.match(stderr, /same file/);
    }
  });

  it('escapes the users in conflicts that it reports, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    const evil = owned('\n\u009b', { id: -1n, name: 'Fern' });
    await createAll(join(cwd, 'a.db'), [evil, ...rowOfPlants('ada', 3000)]);
    await createAll(join(cwd, 'b.db'), [owned('\n\u009b', { id: -1n, name: 'Fern', tag: 'other' })]);
    const { code, stderr } = await callCommand(fromTo, { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /^[^\n]*"\\n\\u009b" [^\n]* id -1[^\n]*\nCopied 3,000 plants, .* 1 conflict\.\n$/);
  });

  it('says how far it came on a signal, and continues when it is run again', async (t) => {
    const cwd = await temporaryFolder(t);
    const plants = rowOfPlants('ada', 300_000);
    await createAll(join(cwd, 'a.db'), plants);
    const child = spawnCommand(fromTo, { cwd });
    const finished = finish(child);
    await eventually(async () => {
      assert.ok((await stat(join(cwd, 'b.db-wal'))).size > 100_000);
    });
    child.kill('SIGINT');
    const { code, stderr } = await finished;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /^Copied [\d,]+ plants, .*Interrupted/);
    const copied = (await readAll(join(cwd, 'b.db'))).length;
    assert.ok(copied < plants.length);
    const again = await callCommand(fromTo, { cwd });
    assert.equal(again.code, 0);
    assert.ok(again.stderr.includes(`Copied ${(plants.length - copied).toLocaleString('en-US')} plants`), again.stderr);
  });
});
