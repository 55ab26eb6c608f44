import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { chmod, chown, lstat, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { issueToken, randomBase62, revokeToken } from '../../src/tokens/issue.ts';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'tokens.json');
}

it('randomBase62 › returns each of the 62 digits at each position', () => {
  const texts = Array.from({ length: 3000 }, () => randomBase62(36));
  for (let position = 0; position < 36; position++) {
    assert.equal(new Set(texts.map((text) => text[position])).size, 62, `position ${position}`);
  }
});

it('issueToken › stores the SHA-256, scopes and expiry in a file that only its owner can access', async (t) => {
  const path = await newPath(t);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const plain = await issueToken(path, { user: 'ada' });
  const narrow = await issueToken(path, { user: 'ada', scopes: ['plants:read'], expiresAt });
  assert.deepEqual(readTokenFile(path), [plain.record, narrow.record]);
  const { id, createdAt, ...rest } = narrow.record;
  const sha256 = hash('sha256', narrow.token, 'hex');
  assert.deepEqual(rest, { user: 'ada', sha256, scopes: ['plants:read'], expiresAt });
  assert.deepEqual(Object.keys(plain.record), ['id', 'user', 'sha256', 'createdAt']);
  assert.match(id, /^tk_[0-9A-Za-z]{10}$/);
  assert.match(narrow.token, /^pst_[0-9A-Za-z]{36}$/);
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  assert.ok(!(await readFile(path, 'utf8')).includes(plain.token.slice(4)));
  assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

it('issueToken › loses no token of concurrent calls, even through a symbolic link', async (t) => {
  const path = await newPath(t);
  const { record } = await issueToken(path, { user: 'ada' });
  await symlink('tokens.json', `${path}-link`);
  const paths = [path, `${path}-link`, path, `${path}-link`];
  // The clock of a network file system can differ, so the timestamp must have no effect.
  const deliver = (): Promise<void> => utimes(`${path}.new`, 0, 0);
  const issued = await Promise.all(paths.map((each) => issueToken(each, { user: 'ada' }, deliver)));
  const records = [record, ...issued.map((each) => each.record)];
  assert.deepEqual(new Set(readTokenFile(path)), new Set(records));
  assert.ok((await lstat(`${path}-link`)).isSymbolicLink());
});

const timeout = 60_000;

it('issueToken › replaces an abandoned .new file, and rejects if its own file was replaced', { timeout }, async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 10_000));
  const path = await newPath(t);
  await writeFile(`${path}.new`, 'half');
  const { record } = await issueToken(path, { user: 'ada' });
  const whileSuspended = async (): Promise<void> => {
    assert.equal(await revokeToken(path, record.id), record.id);
    await writeFile(`${path}.new`, 'a third process');
  };
  await assert.rejects(issueToken(path, { user: 'eve' }, whileSuspended), /replaced .*tokens\.json\.new/);
  assert.deepEqual(readTokenFile(path), []);
  assert.equal(await readFile(`${path}.new`, 'utf8'), 'a third process');
});

it('issueToken › leaves no unfinished file if the tokens file is invalid or the delivery fails', async (t) => {
  const path = await newPath(t);
  const fail = (): never => {
    throw new Error('no space');
  };
  await assert.rejects(issueToken(path, { user: 'eve' }, fail), /no space/);
  assert.deepEqual(await readdir(dirname(path)), []);
  await symlink('volume/tokens.json', path);
  await assert.rejects(issueToken(path, { user: 'ada' }), /link to a file that does not exist/);
  assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
  await rm(path);
  await writeFile(path, '{');
  await assert.rejects(issueToken(path, { user: 'ada' }), /not JSON/);
  assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
  await assert.rejects(issueToken(`${path}${'x'.repeat(300)}`, { user: 'ada' }), /ENAMETOOLONG/);
});

it('issueToken › keeps the read access of the group, but gives no access to other users or groups', async (t) => {
  const path = await newPath(t);
  await issueToken(path, { user: 'ada' });
  const isRoot = process.geteuid?.() === 0;
  if (!isRoot) t.diagnostic('not tested with another owner or group, which only root can set');
  // Only root can keep the group. A file that another account creates has that account's group.
  t.after(() => isRoot && process.seteuid?.(0));
  for (const { before, after, gid = 0, euid = 0, newGid = gid } of [
    { before: 0o664, after: 0o640 },
    { before: 0o400, after: 0o400 },
    { before: 0o640, after: 0o640, gid: 1 },
    { before: 0o640, after: 0o600, gid: 1, euid: 65_534, newGid: process.getegid?.() },
  ]) {
    if (gid !== 0 && !isRoot) continue;
    await chmod(path, before);
    if (isRoot) for (const name of [path, dirname(path)]) await chown(name, euid, gid);
    if (isRoot) process.seteuid?.(euid);
    await issueToken(path, { user: 'bob' });
    const stats = await stat(path);
    assert.equal(stats.mode & 0o777, after);
    if (isRoot) assert.deepEqual([stats.uid, stats.gid], [euid, newGid]);
  }
});
