import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { callService } from '../support/call.ts';
import { callCommand } from '../support/call-command.ts';
import { runCommand, startServer } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { mountSmallFolder } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('first start of plant-store serve', { concurrency: 4 }, () => {
  it('writes a token for user me to a file that only its owner can read, and prints a curl command', async (t) => {
    const cwd = join(await temporaryFolder(t), "it's $HOME");
    await mkdir(cwd);
    const first = await startServer(t, ['--host', '0.0.0.0'], { cwd });
    assert.match(first.url, /^http:\/\/0\.0\.0\.0:\d+$/);
    const line = await eventually(() => /^ +(curl .*)$/m.exec(first.stdout())?.[1] ?? assert.fail(first.stdout()));
    assert.match(line, / http:\/\/localhost:\d+\/plants$/);
    // Passes only PATH, because a proxy in the environment could not reach the addresses of this machine.
    const { PATH } = process.env;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `${line} --silent`], { encoding: 'utf8', env: { PATH } });
    if (status === 127) t.diagnostic('NOT CHECKED that the printed line works: this machine has no curl');
    else assert.deepEqual([status, stdout], [0, '[]'], stderr);
    const file = join(cwd, 'first-token.txt');
    assert.match(await readFile(file, 'utf8'), /^pst_[0-9A-Za-z]{36}\n$/);
    assert.ok(first.stdout().includes(`the new file ${join(cwd, 'plants.db')}`), first.stdout());
    assert.doesNotMatch(first.stdout(), /pst_/);
    const token = (await readFile(file, 'utf8')).trimEnd();
    assert.equal(readTokenFile(join(cwd, 'tokens.json'))[0]?.user, 'me');
    for (const name of ['first-token.txt', 'tokens.json', 'plants.db']) {
      assert.equal((await stat(join(cwd, name))).mode & 0o777, 0o600);
    }
    assert.equal(await first.stop(), 0);
    assert.ok(!first.stderr().includes(token));

    await rm(file);
    const second = await startServer(t, [], { cwd });
    assert.equal((await callService(second.url, 'GET', '/plants', { token })).status, 200);
    assert.equal(await second.stop(), 0);
    assert.doesNotMatch(second.stdout(), /new file|curl/);
    assert.ok(!existsSync(file));
  });

  it('leaves no token behind if first-token.txt cannot be written, because the disk is full', async (t) => {
    const cwd = await mountSmallFolder(t, 1);
    if (cwd === undefined) return;
    const { bsize, bavail } = await statfs(cwd);
    // One block is left for the tokens file.
    await writeFile(join(cwd, 'large'), Buffer.alloc((bavail - 1) * bsize));
    const { code, stderr } = await runCommand(['serve', '--port', '0', '--storage', 'memory'], { cwd });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /ENOSPC/);
    assert.deepEqual(await readdir(cwd), ['large']);
  });

  it('fails if first-token.txt exists or the folder for the tokens file is missing', async (t) => {
    const cwd = await temporaryFolder(t);
    const file = join(cwd, 'first-token.txt');
    await writeFile(file, 'mine');
    for (const [tokens, keyword] of [
      ['tokens.json', file],
      ['etc/tokens.json', 'There is no folder'],
    ] as const) {
      const { code, stderr } = await callCommand(['serve', '--storage', 'memory', '--tokens', tokens], { cwd });
      assert.equal(code, 1);
      assert.ok(stderr.includes(keyword), stderr);
    }
    assert.equal(await readFile(file, 'utf8'), 'mine');
    assert.deepEqual(await readdir(cwd), ['first-token.txt']);
  });
});
