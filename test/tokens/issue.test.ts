import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { runScript, tsx } from '../support/run-script.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const issueModule = new URL('../../src/tokens/issue.ts', import.meta.url).href;

async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'tokens.json');
}

async function permissions(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** Holds the lock of a tokens file for a while, as another process would; resolves when it holds it. */
async function holdLock(t: HasAfter, path: string, ms: number): Promise<void> {
  const holder = new Worker(
    `const { DatabaseSync } = require('node:sqlite');
     const { parentPort, workerData } = require('node:worker_threads');
     const lock = new DatabaseSync(workerData.path + '.lock');
     lock.exec('BEGIN EXCLUSIVE');
     parentPort.postMessage('held');
     setTimeout(() => lock.close(), workerData.ms);`,
    { eval: true, workerData: { path, ms } },
  );
  t.after(async () => {
    await holder.terminate();
  });
  await new Promise((resolve) => holder.once('message', resolve));
}

describe('issueToken', () => {
  it('makes the file for its owner only', async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'tokens.json');
    issueToken(path, { user: 'ada' });
    for (const file of await readdir(folder)) assert.equal(await permissions(join(folder, file)), '600', file);
    assert.deepEqual((await readdir(folder)).sort(), ['tokens.json', 'tokens.json.lock']);
  });

  it('names a folder that does not exist, and makes none', async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, 'deep', 'tokens.json');
    const message = `There is no folder ${join(folder, 'deep')} for the tokens file.`;
    assert.throws(() => issueToken(path, { user: 'ada' }), { message });
    assert.deepEqual(await readdir(folder), []);
  });

  it('keeps the SHA-256 of the token and not the token', async (t) => {
    const path = await newPath(t);
    const { token, record } = issueToken(path, { user: 'ada' });
    const text = await readFile(path, 'utf8');
    assert.ok(!text.includes(token.slice(4, 34)));
    assert.equal(record.sha256, tokenDigest(token));
    assert.deepEqual(readTokenFile(path), [record]);
    assert.match(record.id, /^tk_[0-9A-Za-z]{10}$/);
    assert.ok(Math.abs(Date.parse(record.createdAt) - Date.now()) < 60_000);
  });

  it('gives a user several tokens, each with its own scopes and expiry', async (t) => {
    const path = await newPath(t);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const plain = issueToken(path, { user: 'ada' });
    const narrow = issueToken(path, { user: 'ada', scopes: ['plants:read'], expiresAt });
    const other = issueToken(path, { user: 'bob', scopes: [] });
    assert.deepEqual(readTokenFile(path), [plain.record, narrow.record, other.record]);
    assert.deepEqual([narrow.record.scopes, narrow.record.expiresAt], [['plants:read'], expiresAt]);
    assert.ok(!('scopes' in plain.record) && !('expiresAt' in plain.record));
  });

  it('loses none of the tokens that several processes make at once, also through a symbolic link', async (t) => {
    const path = await newPath(t);
    issueToken(path, { user: 'ada' });
    await symlink('tokens.json', `${path}-link`);
    const script = `import { issueToken } from ${JSON.stringify(issueModule)};
      for (let n = 0; n < 10; n++) issueToken(process.argv[1], { user: 'ada' });`;
    const args = ['--import', tsx, '--input-type=module', '--eval', script];
    const paths = [path, `${path}-link`, path, `${path}-link`];
    await Promise.all(paths.map((name) => runScript(process.execPath, [...args, name], { cwd: process.cwd() })));
    assert.equal(new Set(readTokenFile(path).map(({ sha256 }) => sha256)).size, 41);
  });

  it('waits while another process changes the file', async (t) => {
    const path = await newPath(t);
    await holdLock(t, path, 300);
    const { record } = issueToken(path, { user: 'ada' });
    assert.deepEqual(readTokenFile(path), [record]);
  });

  it('is not hindered by what a killed process left, and keeps the file to its owner', async (t) => {
    const path = await newPath(t);
    await writeFile(`${path}.lock`, '');
    await writeFile(`${path}.new`, 'half');
    await chmod(`${path}.new`, 0o644);
    const { record } = issueToken(path, { user: 'ada' });
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal(await permissions(path), '600');
  });

  for (const what of ['a text file', 'a folder']) {
    it(`names a lock that is ${what}, says what to do, and changes nothing`, async (t) => {
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

  it('names a lock that another process does not release', async (t) => {
    const path = await newPath(t);
    await holdLock(t, path, 20_000);
    const message = `${path}.lock was locked by another process for 5 seconds: try again.`;
    assert.throws(() => issueToken(path, { user: 'ada' }), { message });
    assert.ok(!existsSync(path));
  });

  it('writes through a symbolic link', async (t) => {
    const path = await newPath(t);
    issueToken(path, { user: 'ada' });
    await symlink('tokens.json', `${path}-link`);
    issueToken(`${path}-link`, { user: 'bob' });
    assert.deepEqual(
      readTokenFile(path).map(({ user }) => user),
      ['ada', 'bob'],
    );
    assert.ok((await lstat(`${path}-link`)).isSymbolicLink());
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file away';
  it('leaves the file to whom it belongs', { skip }, async (t) => {
    const path = await newPath(t);
    issueToken(path, { user: 'ada' });
    await chown(path, 65_534, 65_534);
    issueToken(path, { user: 'bob' });
    const { uid, gid } = await stat(path);
    assert.deepEqual([uid, gid, await permissions(path)], [65_534, 65_534, '600']);
  });

  it('refuses a grant that no reader of the file would take', async (t) => {
    const path = await newPath(t);
    for (const grant of [
      { user: '' },
      { user: 'a\0' },
      { user: 'x'.repeat(256) },
      { user: 'ada', expiresAt: 'soon' },
    ]) {
      assert.throws(() => issueToken(path, grant), TypeError);
    }
    assert.ok(!existsSync(path));
  });

  it('leaves a file that is no tokens file as it is', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '{"name":"not mine"}');
    assert.throws(() => issueToken(path, { user: 'ada' }), { message: /cannot be used: it is not \{"version":1/ });
    assert.equal(await readFile(path, 'utf8'), '{"name":"not mine"}');
  });

  it('leaves nothing half-made where the file cannot be replaced', async (t) => {
    const path = await newPath(t);
    await mkdir(`${path}.new`);
    assert.throws(() => issueToken(path, { user: 'ada' }), { code: 'ERR_FS_EISDIR' });
    assert.ok(!existsSync(path));
  });
});

describe('revokeToken', () => {
  it('takes one token out and keeps the others', async (t) => {
    const path = await newPath(t);
    const first = issueToken(path, { user: 'ada' });
    const second = issueToken(path, { user: 'ada' });
    assert.equal(revokeToken(path, first.record.id), true);
    assert.deepEqual(readTokenFile(path), [second.record]);
  });

  it('fails if there is no file, and leaves no trace', async (t) => {
    const path = await newPath(t);
    assert.throws(() => revokeToken(path, 'tk_0000000000'), { message: `There is no tokens file ${path}.` });
    assert.deepEqual(await readdir(join(path, '..')), []);
  });

  it('says that an unknown token was not there, and writes nothing', async (t) => {
    const path = await newPath(t);
    const { record } = issueToken(path, { user: 'ada' });
    const before = await stat(path);
    assert.equal(revokeToken(path, 'tk_0000000000'), false);
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal((await stat(path)).ino, before.ino);
  });
});
