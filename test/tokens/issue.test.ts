import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
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

async function permissions(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

/** Runs in another account. Replaces every unfinished tokens file in a folder by a link to a file of root. */
const attack = `
const { readdirSync, renameSync, symlinkSync } = require('node:fs');
const [folder, victim] = process.argv.slice(1);
process.chdir(folder);
process.setgid(65534);
process.setuid(65534);
console.log('ready');
for (;;) {
  for (const name of readdirSync('.').filter((name) => name.endsWith('.new'))) {
    try {
      symlinkSync(victim, 'link');
      renameSync('link', name);
    } catch {}
  }
}`;

describe('issueToken', () => {
  it('stores the SHA-256, scopes and expiry of each token in a file that only its owner can access', async (t) => {
    const path = await newPath(t);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const plain = issueToken(path, { user: 'ada' });
    const narrow = issueToken(path, { user: 'ada', scopes: ['plants:read'], expiresAt });
    const other = issueToken(path, { user: 'bob', scopes: [] });
    assert.deepEqual(readTokenFile(path), [plain.record, narrow.record, other.record]);
    const { id, createdAt, ...rest } = narrow.record;
    const sha256 = hash('sha256', narrow.token, 'hex');
    assert.deepEqual(rest, { user: 'ada', sha256, scopes: ['plants:read'], expiresAt });
    assert.deepEqual(Object.keys(plain.record), ['id', 'user', 'sha256', 'createdAt']);
    assert.match(id, /^tk_[0-9A-Za-z]{10}$/);
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
    assert.ok(!(await readFile(path, 'utf8')).includes(plain.token.slice(4, 34)));
    assert.deepEqual((await readdir(dirname(path))).sort(), ['tokens.json']);
    assert.equal(await permissions(path), '600');
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

  it('leaves the new file of another command alone if its own was removed', async (t) => {
    const path = await newPath(t);
    const { record } = issueToken(path, { user: 'ada' });
    const { parse } = JSON;
    t.mock.method(JSON, 'parse', (text: string) => {
      rmSync(`${path}.new`);
      writeFileSync(`${path}.new`, 'half');
      return parse(text) as unknown;
    });
    assert.throws(() => issueToken(path, { user: 'eve' }), /tokens\.json\.new was removed/);
    t.mock.restoreAll();
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal(await readFile(`${path}.new`, 'utf8'), 'half');
  });

  it('fails with a remedy if the new file exists, because a process was killed, and changes nothing', async (t) => {
    const path = await newPath(t);
    const { record } = issueToken(path, { user: 'ada' });
    await writeFile(`${path}.new`, 'half');
    // The result does not depend on how long the command waits.
    let now = 0;
    t.mock.method(performance, 'now', () => (now += 10_000));
    assert.throws(() => issueToken(path, { user: 'eve' }), /tokens\.json\.new exists\. Remove it/);
    assert.throws(() => revokeToken(path, record.id), /tokens\.json\.new/);
    assert.deepEqual(readTokenFile(path), [record]);
    assert.equal(await readFile(`${path}.new`, 'utf8'), 'half');
  });

  it('throws if the tokens file is invalid or cannot be created, and leaves no unfinished file', async (t) => {
    const path = await newPath(t);
    await writeFile(path, '{');
    assert.throws(() => issueToken(path, { user: 'ada' }), /not JSON/);
    assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
    assert.throws(() => issueToken(`${path}${'x'.repeat(300)}`, { user: 'ada' }), { code: 'ENAMETOOLONG' });
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file away';
  it('does not change the owner of the file', { skip }, async (t) => {
    const path = await newPath(t);
    issueToken(path, { user: 'ada' });
    for (const owner of [0, 65_534]) {
      const group = 65_534 - owner;
      await chown(path, owner, group);
      issueToken(path, { user: 'bob' });
      const { uid, gid } = await stat(path);
      assert.deepEqual([uid, gid, await permissions(path)], [owner, group, '600']);
    }
  });

  it(
    'gives no other file away if the owner of the folder replaces the unfinished file by a link',
    { skip },
    async (t) => {
      const path = await newPath(t);
      const folder = dirname(path);
      const victim = join(await temporaryFolder(t), 'secret');
      await writeFile(victim, 'secret');
      issueToken(path, { user: 'ada' });
      for (const name of [folder, path]) await chown(name, 65_534, 65_534);
      const attacker = spawn(process.execPath, ['--eval', attack, folder, victim], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(attacker, 'exit');
      await once(attacker.stdout, 'data');
      for (const end = Date.now() + 1000; Date.now() < end;) {
        try {
          issueToken(path, { user: 'ada' });
        } catch {
          // The owner of the folder can always make the tokens file unusable.
        }
      }
      attacker.kill();
      await exited;
      const { uid, gid } = await stat(victim);
      assert.deepEqual([uid, gid], [0, 0]);
    },
  );
});

describe('revokeToken', () => {
  it('removes the token with the given id or value, and keeps the others', async (t) => {
    const path = await newPath(t);
    const [first, second, third] = ['ada', 'ada', 'bob'].map((user) => issueToken(path, { user }));
    assert.ok(first && second && third);
    assert.equal(revokeToken(path, first.record.id), first.record.id);
    assert.deepEqual(readTokenFile(path), [second.record, third.record]);
    assert.equal(revokeToken(path, third.token), third.record.id);
    assert.deepEqual(readTokenFile(path), [second.record]);
  });

  it('returns undefined for an unknown token without writing the file, and throws if there is no file', async (t) => {
    const path = await newPath(t);
    const { record } = issueToken(path, { user: 'ada' });
    const { ino } = await stat(path);
    for (const unknown of ['tk_0000000000', 'pst_0', record.sha256]) {
      assert.equal(revokeToken(path, unknown), undefined);
    }
    assert.equal((await stat(path)).ino, ino);
    assert.deepEqual(await readdir(dirname(path)), ['tokens.json']);
    assert.throws(() => revokeToken(`${path}.none`, record.id), /no tokens file/);
  });
});
