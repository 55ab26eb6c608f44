import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../../support/call-command.ts';
import { runCommand } from '../../../support/command-line.ts';
import { plainEnvironment, runProgram } from '../../../support/run-program.ts';
import { main, tsx } from '../../../support/sources.ts';
import { checkIntegrity } from '../../../support/sqlite-file.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { hasProgram, mountSmallFolder } from '../../../support/system-fault.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { folderWithToken, startTokenServer } from '../../../support/token-server.ts';

describe('plant-store backup', () => {
  it('creates a complete file that only its owner can read, and no other file', async (t) => {
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

  it('contains every plant that was acknowledged before it began, while a server continues to write', async (t) => {
    const folder = await folderWithToken(t);
    const { cwd } = folder;
    await createAll(join(cwd, 'plants.db'), rowOfPlants('bob', 100_000));
    const { create } = await startTokenServer(t, ['--storage', 'sqlite:plants.db', '--log', 'off'], { folder });
    const acknowledged: bigint[] = [];
    let next = 0;
    let isOver = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const id = next++;
        assert.equal((await create(id)).status, 200);
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
        const ids = new Set(plants.filter(({ user }) => user === 'ada').map(({ plant }) => plant.id));
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
      const { code, stderr } = await callCommand(['backup', target], { cwd });
      assert.equal(code, 1);
      const reason = 'already exists. A backup never overwrites a file: choose another name.';
      assert.equal(stderr, `plant-store: ${join(cwd, target)} ${reason}\n`);
    }
    assert.equal(await readFile(join(cwd, 'letter.txt'), 'utf8'), 'Dear Ada');
    assert.deepEqual(await readdir(cwd), ['letter.txt', 'link', 'plants.db']);
  });

  it('refuses a damaged file, and leaves no copy behind', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 20_000));
    const content = await readFile(file);
    // Damages one page of plants, then half of the file. The schema and the first plants stay readable.
    for (const [end, cause] of [
      [content.length / 2 + 4096, ''],
      [content.length, '(database disk image is malformed) '],
    ] as const) {
      await writeFile(file, content.fill(0xff, content.length / 2, end));
      const { code, stderr } = await callCommand(['backup', 'copy.db'], { cwd });
      const sentence = `${file} is damaged. It was left as it is. ${cause}Choose another storage, or restore a backup.`;
      assert.deepEqual([code, stderr], [1, `plant-store: ${sentence}\n`]);
      assert.deepEqual(await readdir(cwd), ['plants.db']);
      assert.deepEqual(await readFile(file), content);
    }
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
    const { code, stderr } = await callCommand(['backup', target], { cwd });
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
});
