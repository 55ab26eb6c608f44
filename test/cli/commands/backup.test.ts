import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callService } from '../../support/call.ts';
import { runCommand, startServer } from '../../support/command-line.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { createAll, hostilePlants, readAll, rowOfPlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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
