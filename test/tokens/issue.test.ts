import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chown, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { sourceUrl } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'tokens.json');
}

describe('issueToken', () => {
  it('stores the SHA-256, scopes and expiry of each token in a file that only its owner can access', async (t) => {
    const path = await newPath(t);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const plain = await issueToken(path, { user: 'ada' });
    const narrow = await issueToken(path, { user: 'ada', scopes: ['plants:read'], expiresAt });
    const other = await issueToken(path, { user: 'bob', scopes: [] });
    assert.deepEqual(readTokenFile(path), [plain.record, narrow.record, other.record]);
    const { id, createdAt, ...rest } = narrow.record;
    const sha256 = hash('sha256', narrow.token, 'hex');
    assert.deepEqual(rest, { user: 'ada', sha256, scopes: ['plants:read'], expiresAt });
    assert.deepEqual(Object.keys(plain.record), ['id', 'user', 'sha256', 'createdAt']);
    assert.match(id, /^tk_[0-9A-Za-z]{10}$/);
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
    assert.ok(!(await readFile(path, 'utf8')).includes(plain.token.slice(4, 34)));
    assert.deepEqual((await readdir(dirname(path))).sort(), ['tokens.json']);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  it('loses no token that several processes create at the same time, even through a symbolic link', async (t) => {
    const path = await newPath(t);
    await issueToken(path, { user: 'ada' });
    await symlink('tokens.json', `${path}-link`);
    const script = `import { issueToken } from ${JSON.stringify(sourceUrl('tokens/issue.ts'))};
      for (let n = 0; n < 5; n++) await issueToken(process.argv[1], { user: 'ada' });`;
    const paths = [path, `${path}-link`, path, `${path}-link`];
    await Promise.all(paths.map((name) => runSuccessfully(process.execPath, evalArgs(script, [name]))));
    assert.equal(new Set(readTokenFile(path).map(({ sha256 }) => sha256)).size, 21);
    assert.ok((await lstat(`${path}-link`)).isSymbolicLink());
  });

  it('fails with a remedy if the new file exists, because a process was killed, and changes nothing', async (t) => {
    const path = await newPath(t);
    const { record } = await issueToken(path, { user: 'ada' });
    await writeFile(`${path}.new`, 'half');
    // The result does not depend on how long the command waits.
    let now = 0;
    t.mock.method(performance, 'now', () => (now += 10_000));
    await assert.rejects(issueToken(path, { user: 'eve' }), /tokens\.json\.new exists\. Remove it/);
    await assert.rejects(revokeToken(path, record.id), /tokens\.json\.new/);
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal(await readFile(`${path}.new`, 'utf8'), 'half');
  });

  it('throws if the tokens file is invalid or cannot be created, and leaves no unfinished file', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '{');
    await assert.rejects(issueToken(path, { user: 'ada' }), /not JSON/);
    assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
    await assert.rejects(issueToken(`${path}${'x'.repeat(300)}`, { user: 'ada' }), /ENAMETOOLONG/);
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file away';
  it('keeps the owner of the file if root changes it', { skip }, async (t) => {
    const path = await newPath(t);
    await issueToken(path, { user: 'ada' });
    await chown(path, 65_534, 1);
    await issueToken(path, { user: 'bob' });
    const { uid, gid, mode } = await stat(path);
    assert.deepEqual([uid, gid, mode & 0o777], [65_534, 1, 0o600]);
  });

  it('stores no token that could not be delivered', async (t) => {
    const path = await newPath(t);
    const { record } = await issueToken(path, { user: 'ada' });
    const fail = (): never => {
      throw new Error('no space');
    };
    await assert.rejects(issueToken(path, { user: 'eve' }, fail), /no space/);
    assert.deepEqual(readTokenFile(path), [record]);
    assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
  });

  it('does not replace a link to a file that does not exist', async (t) => {
    const path = await newPath(t);
    await symlink('volume/tokens.json', path);
    await assert.rejects(issueToken(path, { user: 'ada' }), /link to a file that does not exist/);
    assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
  });
});

describe('revokeToken', () => {
  it('removes the token with the given id or value, and keeps the others', async (t) => {
    const path = await newPath(t);
    const first = await issueToken(path, { user: 'ada' });
    const second = await issueToken(path, { user: 'ada' });
    const third = await issueToken(path, { user: 'bob' });
    assert.equal(await revokeToken(path, first.record.id), first.record.id);
    assert.deepEqual(readTokenFile(path), [second.record, third.record]);
    assert.equal(await revokeToken(path, third.token), third.record.id);
    assert.deepEqual(readTokenFile(path), [second.record]);
  });

  it('returns undefined for an unknown token without writing the file, and throws if there is no file', async (t) => {
    const path = await newPath(t);
    const { record } = await issueToken(path, { user: 'ada' });
    const { ino } = await stat(path);
    for (const unknown of ['tk_0000000000', 'pst_0', record.sha256]) {
      assert.equal(await revokeToken(path, unknown), undefined);
    }
    assert.equal((await stat(path)).ino, ino);
    assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
    await assert.rejects(revokeToken(`${path}.none`, record.id), /no tokens file/);
  });
});
