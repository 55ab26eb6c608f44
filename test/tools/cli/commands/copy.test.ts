import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, statSync, symlinkSync } from 'node:fs';
import { link } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommand, spawnCommand, summaryOf } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { createAll, hostilePlants, owned, readAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const fromTo = ['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:b.db'];

describe('plant-store copy', { concurrency: 2 }, () => {
  it('copies all plants of all users exactly, and nothing when it runs again', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), hostilePlants);
    const count = hostilePlants.length;
    const first = await runCommand(fromTo, { cwd });
    assert.deepEqual(
      [first.code, first.stdout, summaryOf(first.stderr)],
      [0, '', `Copied ${count} plants; 0 were there already, 0 conflicts.\n`],
    );
    assert.match(first.stderr, / in \d+\.\d s \([\d,.]+ a second\);/);
    assert.deepEqual(await readAll(join(cwd, 'b.db')), hostilePlants);

    const second = await runCommand(fromTo, { cwd });
    assert.deepEqual(
      [second.code, summaryOf(second.stderr)],
      [0, `Copied 0 plants; ${count} were there already, 0 conflicts.\n`],
    );
    assert.deepEqual(await readAll(join(cwd, 'b.db')), hostilePlants);
    assert.deepEqual(await readAll(join(cwd, 'a.db')), hostilePlants);
  });

  it('copies nothing from an empty storage', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), []);
    const { code, stderr } = await runCommand(fromTo, { cwd });
    assert.deepEqual([code, summaryOf(stderr)], [0, 'Copied 0 plants; 0 were there already, 0 conflicts.\n']);
  });

  it('overwrites nothing, reports conflicts with users escaped, and exits with 1', async (t) => {
    const cwd = await temporaryFolder(t);
    const row = rowOfPlants('ada', 3000);
    await createAll(join(cwd, 'a.db'), [...hostilePlants, ...row]);
    const others = row.filter((_, n) => n % 200 === 10).map(({ user, plant }) => owned(user, { ...plant, tag: '' }));
    const own = [owned('aaa', { id: 7n, name: 'there before' }), owned('zoe', { id: 7n, name: 'there before' })];
    const evil = owned('\n', { id: -1n, name: 'plant -1', tag: 'other' });
    await createAll(join(cwd, 'b.db'), [evil, ...others, ...own]);
    const { code, stderr } = await runCommand(fromTo, { cwd });
    assert.equal(code, 1);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines[0], 'User "\\n" has another plant with id -1: it was left as it is.');
    assert.ok(lines.some((line) => line === 'User "ada" has another plant with id 10: it was left as it is.'));
    assert.equal(lines.length, 12, stderr);
    assert.equal(lines[10], 'Further conflicts are only counted.');
    const all = await readAll(join(cwd, 'b.db'));
    for (const one of [evil, ...others, ...own]) {
      assert.deepEqual(
        all.filter(({ user, plant }) => user === one.user && plant.id === one.plant.id),
        [one],
      );
    }
    const distinct = new Set([...hostilePlants, ...row, ...own].map(({ user, plant }) => `${plant.id} ${user}`));
    assert.equal(all.length, distinct.size);
    assert.match(summaryOf(lines[11] ?? ''), /; \d+ were there already, \d+ conflicts\.$/);
  });

  it('copies into a storage with plants before, between and after those of the source', async (t) => {
    const cwd = await temporaryFolder(t);
    const [even, odd] = [0, 1].map((rest) =>
      rowOfPlants('ada', 40_000)
        .filter((_, n) => n % 50 !== 0 || rest === 0)
        .filter((_, n) => n % 2 === rest),
    );
    assert.ok(even && odd);
    await createAll(
      join(cwd, 'a.db'),
      even.filter((_, n) => n % 20 === 0),
    );
    await createAll(join(cwd, 'b.db'), [...odd, ...rowOfPlants('a', 5000), ...rowOfPlants('b', 5000)]);
    assert.equal((await runCommand(fromTo, { cwd })).code, 0);
    const ids = new Set(
      (await readAll(join(cwd, 'b.db'))).filter(({ user }) => user === 'ada').map(({ plant }) => plant.id),
    );
    assert.ok(even.filter((_, n) => n % 20 === 0).every(({ plant }) => ids.has(plant.id)));
    assert.match((await runCommand(fromTo, { cwd })).stderr, /^Copied 0 plants /);
  });

  it('completes a copy that was killed', async (t) => {
    const cwd = await temporaryFolder(t);
    const plants = ['ada', 'bob', 'eve'].flatMap((user) => rowOfPlants(user, 50_000));
    await createAll(join(cwd, 'a.db'), plants);
    const child = spawnCommand(fromTo, { cwd });
    t.after(() => {
      child.kill('SIGKILL');
    });
    const exited = once(child, 'exit');
    await eventually(() => {
      assert.ok(statSync(join(cwd, 'b.db-wal')).size > 300_000);
    }, 15_000);
    child.kill('SIGKILL');
    assert.deepEqual(await exited, [null, 'SIGKILL']);
    const before = (await readAll(join(cwd, 'b.db'))).length;
    assert.ok(before > 0 && before < plants.length, `${before} plants`);

    const { code, stderr } = await runCommand(fromTo, { cwd });
    const number = (count: number): string => count.toLocaleString('en-US');
    assert.deepEqual(
      [code, summaryOf(stderr)],
      [0, `Copied ${number(plants.length - before)} plants; ${number(before)} were there already, 0 conflicts.\n`],
    );
    assert.deepEqual(await readAll(join(cwd, 'b.db')), plants);
  });

  it('rejects a source that does not exist, and creates no file', async (t) => {
    const cwd = await temporaryFolder(t);
    const { code, stdout, stderr } = await runCommand(fromTo, { cwd });
    assert.deepEqual(
      [code, stdout, stderr],
      [1, '', `plant-store: There is no file ${join(cwd, 'a.db')}. Check the path.\n`],
    );
    assert.deepEqual(readdirSync(cwd), []);
  });

  it('rejects a source that is not a plant store', async (t) => {
    const cwd = await temporaryFolder(t);
    const { code, stderr } = await runCommand(
      ['copy', '--from', `sqlite:${import.meta.filename}`, '--to', 'sqlite:b.db'],
      { cwd },
    );
    assert.equal(code, 1);
    assert.match(stderr, /^plant-store: .* is not an SQLite database\. It was left as it is\..*\n$/);
  });

  it('rejects a target that is the source, through any link, and memory', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
    symlinkSync('a.db', join(cwd, 'symbolic.db'));
    await link(join(cwd, 'a.db'), join(cwd, 'hard.db'));
    for (const to of ['sqlite:symbolic.db', 'sqlite:hard.db', `sqlite:${cwd}/./a.db`]) {
      const { code, stderr } = await runCommand(['copy', '--from', 'sqlite:a.db', '--to', to], { cwd });
      assert.deepEqual([code, stderr], [2, 'plant-store: --from and --to must not be the same storage.\n']);
    }
    const { code, stderr } = await runCommand(['copy', '--from', 'sqlite:a.db', '--to', 'memory'], { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /^plant-store: --to must not be 'memory'/);
  });
});
