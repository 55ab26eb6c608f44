import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { link, mkdir, readFile, readdir, rename, rm, stat, statfs, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { createFirstToken, describeFirstToken } from '../../src/cli/first-token.ts';
import { TokenGrants } from '../../src/tokens/grants.ts';
import { issueToken } from '../../src/tokens/issue.ts';
import { readTokenFile, tokenDigest } from '../../src/tokens/token-file.ts';
import { callService } from '../support/call.ts';
import { assertFails } from '../support/call-command.ts';
import { startServer } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { mountSmallFolder } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken } from '../support/token-server.ts';

it('first token › is written to a file that only its owner can read, and works in the printed curl command', async (t) => {
  const cwd = join(await temporaryFolder(t), "it's $HOME");
  await mkdir(cwd);
  const first = await startServer(t, ['--host', '0.0.0.0'], { cwd });
  const line = await eventually(() => /^ +(curl .*)$/m.exec(first.stdout())?.[1] ?? assert.fail(first.stdout()));
  assert.match(line, / http:\/\/localhost:\d+\/plants$/);
  // Passes only PATH, because a proxy in the environment could not reach the addresses of this machine.
  const { PATH } = process.env;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${line} --silent`], { encoding: 'utf8', env: { PATH } });
  if (status === 127) t.diagnostic('NOT CHECKED that the printed line works: this machine has no curl');
  else assert.deepEqual([status, stdout], [0, '[]'], stderr);
  assert.ok(first.stdout().includes(`the new file ${join(cwd, 'plants.db')}`), first.stdout());
  const file = join(cwd, 'first-token.txt');
  const token = (await readFile(file, 'utf8')).trimEnd();
  assert.equal(readTokenFile(join(cwd, 'tokens.json'))[0]?.user, 'me');
  for (const name of ['first-token.txt', 'tokens.json', 'plants.db']) {
    assert.equal((await stat(join(cwd, name))).mode & 0o777, 0o600);
  }
  assert.equal(await first.stop(), 0);
  assert.ok(!(first.stdout() + first.stderr()).includes(token));

  await rm(file);
  const second = await startServer(t, ['--docs'], { cwd });
  assert.equal((await callService(second.url, 'GET', '/plants', { token })).status, 200);
  assert.equal(await second.stop(), 0);
  assert.doesNotMatch(second.stdout(), /new file|curl/);
  assert.ok(second.stdout().includes(`${second.url}/docs\n`));
  assert.deepEqual((await readdir(cwd)).sort(), ['plants.db', 'tokens.json']);
});

it('first token › is not stored if first-token.txt does not fit on the disk', async (t) => {
  const cwd = await mountSmallFolder(t, 1);
  if (cwd === undefined) return;
  const { bsize, bavail } = await statfs(cwd);
  // One block is left for the tokens file.
  await writeFile(join(cwd, 'large'), Buffer.alloc((bavail - 1) * bsize));
  await assertFails('serve --port 0 --storage memory', { cwd }, 'ENOSPC');
  assert.deepEqual(await readdir(cwd), ['large']);
});

it('first token › is created even if a first start was killed at any point', async (t) => {
  for (const isDelivered of [undefined, false, true]) {
    const folder = await temporaryFolder(t);
    const [tokens, file] = [join(folder, 'tokens.json'), join(folder, 'first-token.txt')];
    const { token } = await issueToken(tokens, { user: 'me' });
    await rename(tokens, `${tokens}.new`);
    await utimes(`${tokens}.new`, 0, 0);
    if (isDelivered !== undefined) await writeFile(file, isDelivered ? `${token}\n` : '');
    await createFirstToken(tokens);
    const first = (await readFile(file, 'utf8')).trim();
    assert.equal(first === token, isDelivered === true);
    assert.deepEqual(
      readTokenFile(tokens).map(({ sha256 }) => sha256),
      [tokenDigest(first)],
    );
    assert.deepEqual((await readdir(folder)).sort(), ['first-token.txt', 'tokens.json']);
  }
});

it('first token › is not described if it is a pipe, or while the tokens file cannot be read', async (t) => {
  const { cwd, tokens } = await folderWithToken(t);
  const grants = new TokenGrants(tokens, () => undefined);
  // Reading a pipe would wait for a writer.
  spawnSync('mkfifo', [join(cwd, 'first-token.txt')]);
  assert.equal(describeFirstToken(tokens, grants, 'http://127.0.0.1'), undefined);
  await link(tokens, join(cwd, 'linked.json'));
  grants.check();
  assert.throws(() => grants.find('x'), { code: 'storage_unavailable' });
  assert.equal(describeFirstToken(tokens, grants, 'http://127.0.0.1'), undefined);
});
