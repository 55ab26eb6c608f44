import assert from 'node:assert/strict';
import { chmod, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/**
 * Stops the clock, which `advance` advances. Creates a tokens file with one token for ada, and an authenticator that
 * reads the file and adds its warnings to `problems`.
 */
async function authenticateAda(t: TestContext) {
  let nowMs = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
  const advance = (byMs: number): void => {
    nowMs += byMs;
    t.mock.timers.tick(byMs);
  };
  const path = join(await temporaryFolder(t), 'tokens.json');
  const { token, record } = await issueToken(path, { user: 'ada' });
  const problems: string[] = [];
  const authenticate = createTokenFileAuthenticator(path, { onWarning: (message) => problems.push(message) });
  const userOf = (text: string): string | undefined => authenticate(text)?.user;
  return { path, token, id: record.id, authenticate, userOf, problems, advance };
}

describe('createTokenFileAuthenticator', () => {
  it('accepts the tokens of the file and no others', async (t) => {
    const { token, id, authenticate, problems } = await authenticateAda(t);
    assert.deepEqual(authenticate(token), { user: 'ada', tokenId: id });
    const near = [token.slice(0, -1), `${token} `, token.toLowerCase()];
    const unknown = ['', 'ada', '__proto__', tokenDigest(token), ...near];
    for (const text of unknown) assert.equal(authenticate(text), null, text);
    assert.deepEqual(problems, []);
  });

  it('accepts a new token and rejects a revoked token after one second, even on the first request', async (t) => {
    const { path, token, id, authenticate, userOf, problems, advance } = await authenticateAda(t);
    const { token: later, record } = await issueToken(path, { user: 'bob', scopes: ['plants:read'] });
    advance(1001);
    assert.deepEqual(authenticate(later), { user: 'bob', tokenId: record.id, scopes: ['plants:read'] });
    assert.equal(userOf(token), 'ada');
    await revokeToken(path, id);
    advance(1001);
    assert.deepEqual([userOf(token), userOf(later)], [undefined, 'bob']);
    assert.deepEqual(problems, []);
  });

  it('rejects a token when it expires, and a token that had already expired', async (t) => {
    const { path, advance } = await authenticateAda(t);
    const issue = (afterMs: number) =>
      issueToken(path, { user: 'bob', expiresAt: new Date(Date.now() + afterMs).toISOString() });
    const [{ token: past }, { token: soon }] = [await issue(-1), await issue(300)];
    const authenticate = createTokenFileAuthenticator(path);
    assert.equal(authenticate(past), null);
    advance(299);
    assert.equal(authenticate(soon)?.user, 'bob');
    advance(1);
    assert.equal(authenticate(soon), null);
  });

  it('keeps the last valid tokens while the file is invalid, and accepts a repaired file', async (t) => {
    const { path, token, userOf, problems, advance } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    await writeFile(path, good.slice(0, -10));
    for (let n = 0; n < 3; n++) {
      advance(1001);
      assert.equal(userOf(token), 'ada');
    }
    await writeFile(path, good.replace('"ada"', '"eve"'));
    advance(1001);
    assert.equal(userOf(token), 'eve');
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /not JSON.*stay in force/);
  });

  it('accepts no token after the file was removed, until a valid file exists again', async (t) => {
    const { path, token, userOf, problems, advance } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    await rm(path);
    advance(1001);
    assert.equal(userOf(token), undefined);
    await writeFile(path, good.slice(0, -10), { mode: 0o600 });
    advance(1001);
    assert.equal(userOf(token), undefined);
    await writeFile(path, good);
    advance(1001);
    assert.equal(userOf(token), 'ada');
    assert.equal(problems.length, 2, problems.join('\n'));
    assert.match(problems[0] ?? '', /removed/);
    assert.match(problems[1] ?? '', /No token is accepted/);
  });

  it('rejects every token with storage_unavailable while a changed file cannot be read', async (t) => {
    // Unlike EACCES, the error ELOOP also occurs for root. Reading the first byte of this file fails with EIO.
    for (const target of ['tokens.json', '/proc/self/mem']) {
      const { path, token, id, authenticate, userOf, problems, advance } = await authenticateAda(t);
      await rename(path, `${path}.away`);
      await symlink(target, path);
      for (const text of [token, 'unknown']) {
        advance(1001);
        assert.throws(() => authenticate(text), { code: 'storage_unavailable' });
      }
      await rename(`${path}.away`, path);
      await revokeToken(path, id);
      advance(1001);
      assert.equal(userOf(token), undefined);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /503/);
      t.mock.reset();
    }
  });

  it('warns at startup and later if other users can read the file, by default on standard error', async (t) => {
    const { path, token, userOf, problems, advance } = await authenticateAda(t);
    await chmod(path, 0o604);
    for (let n = 0; n < 2; n++) {
      advance(1001);
      assert.equal(userOf(token), 'ada');
    }
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /chmod 600/);
    const { mock } = t.mock.method(console, 'error', () => undefined);
    createTokenFileAuthenticator(path);
    assert.deepEqual(mock.calls[0]?.arguments, problems);
  });

  it('finds a file with a relative path after the working directory has changed', async (t) => {
    const { path, token } = await authenticateAda(t);
    const before = process.cwd();
    t.after(() => {
      process.chdir(before);
    });
    process.chdir(dirname(path));
    const authenticate = createTokenFileAuthenticator('tokens.json');
    process.chdir(before);
    assert.equal(authenticate(token)?.user, 'ada');
  });
});
