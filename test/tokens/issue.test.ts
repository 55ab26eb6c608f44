import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { holdDatabase } from '../support/hold-database.ts';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { sourceUrl } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'tokens.json');
}

async function permissions(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** Holds the lock of a tokens file for a while, as another process would. */
function holdLock(t: HasAfter, path: string, forMs: number): Promise<void> {
  return holdDatabase(t, `${path}.lock`, 'BEGIN EXCLUSIVE', forMs);
}

describe('issueToken', () => {
  it('creates the file for its owner only', async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'tokens.json');
    issueToken(path, { user: 'ada' });
    for (const file of await readdir(folder)) assert.equal(await permissions(join(folder, file)), '600', file);
    assert.deepEqual((await readdir(folder)).sort(), ['tokens.json', 'tokens.json.lock']);
  });

  it('names a folder that does not exist, and creates none', async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'deep', 'tokens.json');
    const message = `There is no folder ${join(folder, 'deep')} for the tokens file. Create the folder, or choose another file.`;
    assert.throws(() => issueToken(path, { user: 'ada' }), { message });
    assert.deepEqual(await readdir(folder), []);
  });

  it('stores the SHA-256 of the token instead of the token', async (t) => {
    const path = await newPath(t);
    const { token, record } = issueToken(path, { user: 'ada' });
    const text = await readFile(path, 'utf8');
    assert.ok(!text.includes(token.slice(4, 34)));
    assert.equal(record.sha256, tokenDigest(token));
    assert.deepEqual(readTokenFile(path), [record]);
    assert.match(record.id, /^tk_[0-9A-Za-z]{10}$/);
    assert.ok(Math.abs(Date.parse(record.createdAt) - Date.now()) < 60_000);
  });

  it('issues several tokens to a user, each with its own scopes and expiry', async (t) => {
    const path = await newPath(t);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const plain = issueToken(path, { user: 'ada' });
    const narrow = issueToken(path, { user: 'ada', scopes: ['plants:read'], expiresAt });
    const other = issueToken(path, { user: 'bob', scopes: [] });
    assert.deepEqual(readTokenFile(path), [plain.record, narrow.record, other.record]);
    assert.deepEqual([narrow.record.scopes, narrow.record.expiresAt], [['plants:read'], expiresAt]);
    assert.ok(!('scopes' in plain.record) && !('expiresAt' in plain.record));
  });

  it('loses no token that several processes create at the same time, even through a symbolic link', async (t) => {
    const path = await newPath(t);
    issueToken(path, { user: 'ada' });
    await symlink('tokens.json', `${path}-link`);
    const script = `import { issueToken } from ${JSON.stringify(sourceUrl('tokens/issue.ts'))};
      for (let n = 0; n < 5; n++) issueToken(process.argv[1], { user: 'ada' });`;
    const paths = [path, `${path}-link`, path, `${path}-link`];
    await Promise.all(paths.map((name) => runSuccessfully(process.execPath, evalArgs(script, [name]))));
    assert.equal(new Set(readTokenFile(path).map(({ sha256 }) => sha256)).size, 21);
    assert.ok((await lstat(`${path}-link`)).isSymbolicLink());
  });

  it('waits while another process changes the file', async (t) => {
    const path = await newPath(t);
    await holdLock(t, path, 300);
    const { record } = issueToken(path, { user: 'ada' });
    assert.deepEqual(readTokenFile(path), [record]);
  });

  it('succeeds after a killed process left its files, and keeps the file private', async (t) => {
    const path = await newPath(t);
    await writeFile(`${path}.lock`, '');
    await writeFile(`${path}.new`, 'half');
    await chmod(`${path}.new`, 0o644);
    const { record } = issueToken(path, { user: 'ada' });
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal(await permissions(path), '600');
  });

  for (const what of ['a text file', 'a folder']) {
    it(`names a lock file that is ${what}, tells what to do, and changes nothing`, async (t) => {
      const path = await newPath(t);
      const { record } = issueToken(path, { user: 'ada' });
      await rm(`${path}.lock`);
      await (what === 'a folder' ? mkdir(`${path}.lock`) : writeFile(`${path}.lock`, 'mine'));
      const message = `${path}.lock is not the empty file that serves as the lock of the tokens file: move it away.`;
      assert.throws(() => issueToken(path, { user: 'eve' }), { message });
      assert.throws(() => revokeToken(path, record.id), { message });
      assert.deepEqual(readTokenFile(path), [record]);
      if (what === 'a text file') assert.equal(await readFile(`${path}.lock`, 'utf8'), 'mine');
    });
  }

  it('names a lock file that another process does not release', async (t) => {
    const path = await newPath(t);
    await holdLock(t, path, 20_000);
    const message = `${path}.lock was locked by another process for 5 seconds: try again.`;
    assert.throws(() => issueToken(path, { user: 'ada' }), { message });
    assert.ok(!existsSync(path));
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file away';
  it('does not change the owner of the file', { skip }, async (t) => {
    const path = await newPath(t);
    issueToken(path, { user: 'ada' });
    await chown(path, 65_534, 65_534);
    issueToken(path, { user: 'bob' });
    const { uid, gid } = await stat(path);
    assert.deepEqual([uid, gid, await permissions(path)], [65_534, 65_534, '600']);
  });

  it('rejects a grant that a reader of the file would reject', async (t) => {
    const path = await newPath(t);
    for (const user of ['', 'a\0', 'x'.repeat(256)]) assert.throws(() => issueToken(path, { user }), TypeError);
    assert.throws(() => issueToken(path, { user: 'ada', expiresAt: 'soon' }), TypeError);
    assert.ok(!existsSync(path));
  });

  it('does not change a file that is not a tokens file', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '{"name":"not mine"}');
    assert.throws(() => issueToken(path, { user: 'ada' }), { message: /cannot be used: it is not \{"version":1/ });
    assert.equal(await readFile(path, 'utf8'), '{"name":"not mine"}');
  });

  it('leaves no incomplete file if the file cannot be replaced', async (t) => {
    const path = await newPath(t);
    await mkdir(`${path}.new`);
    assert.throws(() => issueToken(path, { user: 'ada' }), { code: 'ERR_FS_EISDIR' });
    assert.ok(!existsSync(path));
  });
});

describe('revokeToken', () => {
  it('removes the token with an id or a value, and keeps the others', async (t) => {
    const path = await newPath(t);
    const first = issueToken(path, { user: 'ada' });
    const second = issueToken(path, { user: 'ada' });
    const third = issueToken(path, { user: 'bob' });
    assert.equal(revokeToken(path, first.record.id), first.record.id);
    assert.deepEqual(readTokenFile(path), [second.record, third.record]);
    assert.equal(revokeToken(path, third.token), third.record.id);
    assert.deepEqual(readTokenFile(path), [second.record]);
  });

  it('fails if there is no file, and creates none', async (t) => {
    const path = await newPath(t);
    assert.throws(() => revokeToken(path, 'tk_0000000000'), {
      message: `There is no tokens file ${path}. Check the path, or create a token.`,
    });
    assert.deepEqual(await readdir(join(path, '..')), []);
  });

  it('returns undefined for an unknown token, and does not write the file', async (t) => {
    const path = await newPath(t);
    const { record } = issueToken(path, { user: 'ada' });
    const before = await stat(path);
    for (const unknown of ['tk_0000000000', 'pst_0', record.sha256]) {
      assert.equal(revokeToken(path, unknown), undefined);
    }
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal((await stat(path)).ino, before.ino);
  });
});
