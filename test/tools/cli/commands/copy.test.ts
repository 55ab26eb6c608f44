import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { link, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../../support/call-command.ts';
import { spawnCommand, summaryOf } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { createAll, hostilePlants, owned, readAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const fromTo = ['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:b.db'];

/** Copies a.db to b.db. Asserts that all plants of the source are in the target, and returns the summary. */
async function copied(cwd: string): Promise<string> {
  const { code, stdout, stderr } = await callCommand(fromTo, { cwd });
  assert.deepEqual([code, stdout], [0, ''], stderr);
  return summaryOf(stderr);
}

describe('plant-store copy', () => {
  it('copies all plants of all users exactly, and nothing when it runs again', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), hostilePlants);
    const count = hostilePlants.length;
    assert.equal(await copied(cwd), `Copied ${count} plants; 0 were there already, 0 conflicts.\n`);
    assert.deepEqual(await readAll(join(cwd, 'b.db')), hostilePlants);
    assert.equal(await copied(cwd), `Copied 0 plants; ${count} were there already, 0 conflicts.\n`);
    for (const name of ['a.db', 'b.db']) assert.deepEqual(await readAll(join(cwd, name)), hostilePlants);
  });

  it('copies nothing from an empty storage', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), []);
    const { code, stderr } = await callCommand(fromTo, { cwd });
    assert.equal(code, 0);
    assert.match(stderr, /^Copied 0 plants in \d+\.\d s; 0 were there already, 0 conflicts\.\n$/);
  });

  it('overwrites nothing, reports conflicts with users escaped, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    const row = rowOfPlants('ada', 3000);
    await createAll(join(cwd, 'a.db'), [...hostilePlants, ...row]);
    const others = row.filter((_, n) => n % 200 === 10).map(({ user, plant }) => owned(user, { ...plant, tag: '' }));
    const own = [owned('aaa', { id: 7n, name: 'there before' }), owned('zoe', { id: 7n, name: 'there before' })];
    const evil = owned('\n', { id: -1n, name: 'plant -1', tag: 'other' });
    await createAll(join(cwd, 'b.db'), [evil, ...others, ...own]);
    const { code, stderr } = await callCommand(fromTo, { cwd });
    assert.equal(code, 1);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines[0], 'User "\\n" has another plant with id -1: it was left as it is.');
    assert.ok(lines.includes('User "ada" has another plant with id 10: it was left as it is.'));
    assert.equal(lines.length, 12, stderr);
    assert.equal(lines[10], 'Further conflicts are only counted.');
    assert.match(lines[11] ?? '', / \([\d,.]+ a second\); \d+ were there already, \d+ conflicts\.$/);
    const all = await readAll(join(cwd, 'b.db'));
    for (const one of [evil, ...others, ...own]) {
      assert.deepEqual(
        all.filter(({ user, plant }) => user === one.user && plant.id === one.plant.id),
        [one],
      );
    }
    const distinct = new Set([...hostilePlants, ...row, ...own].map(({ user, plant }) => `${plant.id} ${user}`));
    assert.equal(all.length, distinct.size);
  });

  it('copies into a storage with plants before, between and after those of the source', async (t) => {
    const cwd = await temporaryFolder(t);
    const row = rowOfPlants('ada', 40_000);
    const source = row.filter((_, n) => n % 40 === 0);
    await createAll(join(cwd, 'a.db'), source);
    const between = row.filter((_, n) => n % 2 === 1);
    await createAll(join(cwd, 'b.db'), [...between, ...rowOfPlants('a', 5000), ...rowOfPlants('b', 5000)]);
    assert.equal(await copied(cwd), 'Copied 1,000 plants; 0 were there already, 0 conflicts.\n');
    const ids = new Set((await readAll(join(cwd, 'b.db'))).map(({ user, plant }) => `${user} ${plant.id}`));
    assert.ok(source.every(({ plant }) => ids.has(`ada ${plant.id}`)));
    assert.match(await copied(cwd), /^Copied 0 plants/);
  });

  it('completes a copy that was killed', async (t) => {
    const cwd = await temporaryFolder(t);
    const plants = ['ada', 'bob', 'eve'].flatMap((user) => rowOfPlants(user, 50_000));
    await createAll(join(cwd, 'a.db'), plants);
    const child = spawnCommand(fromTo, { cwd });
    const exited = once(child, 'exit');
    t.after(() => child.kill('SIGKILL'));
    await eventually(() => {
      assert.ok(statSync(join(cwd, 'b.db-wal')).size > 300_000);
    }, 15_000);
    child.kill('SIGKILL');
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    const before = (await readAll(join(cwd, 'b.db'))).length;
    assert.ok(before > 0 && before < plants.length, `${before} plants`);
    const [added, present] = [plants.length - before, before].map((count) => count.toLocaleString('en-US'));
    assert.equal(await copied(cwd), `Copied ${added} plants; ${present} were there already, 0 conflicts.\n`);
    assert.deepEqual(await readAll(join(cwd, 'b.db')), plants);
  });

  it('rejects a target that is the source, through any link, and memory', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
    await symlink('a.db', join(cwd, 'symbolic.db'));
    await link(join(cwd, 'a.db'), join(cwd, 'hard.db'));
    for (const [to, reason] of [
      ['sqlite:symbolic.db', /^plant-store: --from and --to must not be the same storage\.\n$/],
      ['sqlite:hard.db', /^plant-store: --from and --to must not be the same storage\.\n$/],
      [`sqlite:${cwd}/./a.db`, /^plant-store: --from and --to must not be the same storage\.\n$/],
      ['memory', /^plant-store: --to must not be 'memory'/],
    ] as const) {
      const { code, stderr } = await callCommand(['copy', '--from', 'sqlite:a.db', '--to', to], { cwd });
      assert.equal(code, 2);
      assert.match(stderr, reason);
    }
  });
});
