import assert from 'node:assert/strict';
import { link, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../../support/call-command.ts';
import { summaryOf } from '../../../support/command-line.ts';
import { createAll, owned, rowOfPlants } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const fromTo = ['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:b.db'];

describe('plant-store copy', () => {
  it('escapes the users in conflicts that it reports, only counts further conflicts, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    const row = rowOfPlants('ada', 3000);
    const evil = owned('\n\u009b', { id: -1n, name: 'Fern' });
    await createAll(join(cwd, 'a.db'), [evil, ...row]);
    const others = row.filter((_, n) => n % 200 === 10).map(({ user, plant }) => owned(user, { ...plant, tag: '' }));
    await createAll(join(cwd, 'b.db'), [owned('\n\u009b', { id: -1n, name: 'Fern', tag: 'other' }), ...others]);
    const { code, stderr } = await callCommand(fromTo, { cwd });
    const lines = summaryOf(stderr).split('\n');
    const left = (user: string, id: number): string =>
      `User ${user} has another plant with id ${id}: it was left as it is.`;
    assert.deepEqual([code, lines.length], [1, 13], stderr);
    assert.deepEqual([lines[0], lines[1]], [left('"\\n\\u009b"', -1), left('"ada"', 10)]);
    const summary = 'Copied 2,985 plants; 0 were there already, 16 conflicts.';
    assert.deepEqual(lines.slice(10), ['Further conflicts are only counted.', summary, '']);
  });

  it('rejects a target that is the same file as the source, even if links lead to the file', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
    await symlink('a.db', join(cwd, 'symbolic.db'));
    await link(join(cwd, 'a.db'), join(cwd, 'hard.db'));
    for (const to of ['symbolic.db', 'hard.db', `${cwd}/./a.db?commitThread=true`]) {
      const stderr = 'plant-store: --from and --to must not be the same storage.\n';
      const finished = await callCommand(['copy', '--from', 'sqlite:a.db', '--to', `sqlite:${to}`], { cwd });
      assert.deepEqual(finished, { code: 2, stdout: '', stderr });
    }
  });
});
