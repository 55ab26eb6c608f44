import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callService } from '../../../support/call.ts';
import { runCommand, startServer } from '../../../support/command-line.ts';
import { plainEnvironment, runProgram } from '../../../support/run-program.ts';
import { main, tsx } from '../../../support/sources.ts';
import { checkIntegrity } from '../../../support/sqlite-file.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { hasProgram, mountSmallFolder } from '../../../support/system-fault.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('plant-store backup', { concurrency: 4 }, () => {
  it('creates a complete file that only its owner can read, and no other file', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), hostilePlants);
    const { code, stdout, stderr } = await runCommand(['backup', 'copy.db'], { cwd });
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^Backed up \d+ pages in \d+\.\d s \([\d,.]+ a second\)\.\n$/);
    assert.deepEqual(await readdir(cwd), ['copy.db', 'plants.db']);
    assert.equal((await stat(join(cwd, 'copy.db'))).mode & 0o777, 0o600);
    assert.equal(checkIntegrity(join(cwd, 'copy.db')), 'ok');
    assert.deepEqual(await readAll(join(cwd, 'copy.db')), hostilePlants);
  });

  it('contains every plant that was acknowledged before it began, while a server continues to write', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), rowOfPlants('bob', 100_000));
    const server = await startServer(t, ['--storage', 'sqlite:plants.db', '--log', 'off'], { cwd });
    const token = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
    const acknowledged: bigint[] = [];
    let next = 0;
    let isOver = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const id = next++;
        const body = JSON.stringify({ id, name: 'x'.repeat(100) });
        const { status } = await callService(server.url, 'POST', '/plants', { token, body });
        assert.equal(status, 200);
        acknowledged.push(BigInt(id));
      }
    });
    const backups = (async () => {
      for (const name of ['1.db', '2.db']) {
        const before = [...acknowledged];
        const { code, stderr } = await runCommand(['backup', name], { cwd });
        assert.equal(code, 0, stderr);
        assert.ok(acknowledged.length > before.length, 'the server wrote during the backup');
        assert.equal(checkIntegrity(join(cwd, name)), 'ok');
        const plants = await readAll(join(cwd, name));
        const ids = new Set(plants.filter(({ user }) => user === 'me').map(({ plant }) => plant.id));
        assert.deepEqual(
          before.filter((id) => !ids.has(id)),
          [],
        );
        assert.equal(plants.length - ids.size, 100_000);
      }
    })().finally(() => {
      isOver = true;
    });
    await Promise.all([backups, ...writers]);
  });

  it('rejects a target that exists, even as a dangling link', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), hostilePlants);
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada');
    await symlink('nothing', join(cwd, 'link'));
    for (const target of ['letter.txt', 'link', '.', 'plants.db']) {
      const { code, stderr } = await runCommand(['backup', target], { cwd });
      assert.equal(code, 1);
      const reason = 'already exists. A backup never overwrites a file: choose another name.';
      assert.equal(stderr, `plant-store: ${join(cwd, target)} ${reason}\n`);
    }
    assert.equal(readFileSync(join(cwd, 'letter.txt'), 'utf8'), 'Dear Ada');
    assert.deepEqual(await readdir(cwd), ['letter.txt', 'link', 'plants.db']);
  });

  it('names the target and leaves no file behind if the disk of the target is full', async (t) => {
    const folder = await mountSmallFolder(t, 1);
    if (folder === undefined) {
      t.skip('this process may not mount');
      return;
    }
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
    const target = join(folder, 'copy.db');
    const { code, stderr } = await runCommand(['backup', target], { cwd });
    assert.equal(code, 1);
    const sentence = `${target} cannot be written: the disk is full or failing. Free space, and try again.`;
    assert.equal(stderr, `plant-store: ${sentence} (database or disk is full)\n`);
    assert.deepEqual(await readdir(folder), []);
    assert.equal(checkIntegrity(join(cwd, 'plants.db')), 'ok');
  });

  it('names both files if a write fails', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 50_000));
    const args = ['--fsize=500000', process.execPath, '--import', tsx, main, 'backup', 'copy.db'];
    // The limit also applies to the file in which Node.js would record the coverage.
    const env = { ...plainEnvironment(), NODE_V8_COVERAGE: '' };
    const { code, stderr } = await runProgram('prlimit', args, { cwd, env });
    assert.equal(code, 1);
    const [file, target] = [join(cwd, 'plants.db'), join(cwd, 'copy.db')];
    const sentence = `${file} cannot be copied to ${target}: a disk is full or failing. Free space, and try again.`;
    assert.equal(stderr, `plant-store: ${sentence} (disk I/O error)\n`);
    assert.ok(!existsSync(target));
  });

  it('rejects a source that is missing, empty or not a plant store, and creates no file', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'empty.db'), '');
    await writeFile(join(cwd, 'letter.txt'), 'Dear Ada, '.repeat(100));
    const refusals: [string, RegExp][] = [
      ['plants.db', /^plant-store: There is no file .*plants\.db\. Check the path\.\n$/],
      [
        'empty.db',
        /^plant-store: .*empty\.db is empty\. It was left as it is\. Choose another storage, or restore a backup\.\n$/,
      ],
      ['letter.txt', /^plant-store: .*letter\.txt is not an SQLite database\. It was left as it is\..*\n$/],
    ];
    for (const [source, message] of refusals) {
      const { code, stderr } = await runCommand(['backup', '--storage', `sqlite:${source}`, 'copy.db'], { cwd });
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
    assert.deepEqual(await readdir(cwd), ['empty.db', 'letter.txt']);
  });
});
