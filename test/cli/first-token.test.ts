import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { link, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { createFirstToken, describeFirstToken } from '../../src/cli/first-token.ts';
import { TokenGrants } from '../../src/tokens/grants.ts';
import { issueToken } from '../../src/tokens/issue.ts';
import { readTokenFile, tokenDigest } from '../../src/tokens/token-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { folderWithToken } from '../support/token-server.ts';

it('first token › is created even if an earlier start was killed while it created the token', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 10_000));
  for (const isDelivered of [undefined, false, true]) {
    const folder = await temporaryFolder(t);
    const [tokens, file] = [join(folder, 'tokens.json'), join(folder, 'first-token.txt')];
    const { token } = await issueToken(tokens, { user: 'me' });
    await rename(tokens, `${tokens}.new`);
    if (isDelivered !== undefined) await writeFile(file, isDelivered ? `${token}\n` : '');
    await createFirstToken(tokens);
    const first = (await readFile(file, 'utf8')).trim();
    assert.equal(first === token, isDelivered === true);
    const digests = Array.from(readTokenFile(tokens), ({ sha256 }) => sha256);
    assert.deepEqual(digests, [tokenDigest(first)]);
    assert.deepEqual((await readdir(folder)).sort(), ['first-token.txt', 'tokens.json']);
  }
});

it('describeFirstToken › returns an empty string unless the file contains a token that is accepted', async (t) => {
  const { cwd, tokens } = await folderWithToken(t);
  const file = join(cwd, 'first-token.txt');
  const grants = new TokenGrants(tokens, () => undefined);
  await writeFile(file, 'pst_other\n');
  assert.equal(describeFirstToken(tokens, grants, 'http://127.0.0.1'), '');
  await rm(file);
  // Reading a pipe would wait for a writer.
  spawnSync('mkfifo', [file]);
  assert.equal(describeFirstToken(tokens, grants, 'http://127.0.0.1'), '');
  await link(tokens, join(cwd, 'linked.json'));
  grants.check();
  assert.throws(() => grants.find('x'), { code: 'storage_unavailable' });
  assert.equal(describeFirstToken(tokens, grants, 'http://127.0.0.1'), '');
});
