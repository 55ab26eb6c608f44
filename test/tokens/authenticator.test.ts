import assert from 'node:assert/strict';
import { chmod, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { authenticateAda } from './authenticate-ada.ts';

describe('createTokenFileAuthenticator', () => {
  it('accepts the tokens of the file and no others', async (t) => {
    const { token, id, authenticate, problems } = await authenticateAda(t);
    assert.deepEqual(await authenticate(token), { user: 'ada', tokenId: id });
    const near = [token.slice(0, -1), `${token} `, token.toLowerCase()];
    const unknown = ['', 'ada', '__proto__', tokenDigest(token), ...near];
    for (const text of unknown) assert.equal(await authenticate(text), null, text);
    assert.deepEqual(problems, []);
  });

  it('accepts a new token and rejects a revoked token after one second, even on the first request', async (t) => {
    const { path, token, id, authenticate, userOf, problems, advance } = await authenticateAda(t);
    const { token: later, record } = issueToken(path, { user: 'bob', scopes: ['plants:read'] });
    advance(1001);
    assert.deepEqual(await authenticate(later), { user: 'bob', tokenId: record.id, scopes: ['plants:read'] });
    assert.equal(await userOf(token), 'ada');
    revokeToken(path, id);
    advance(1001);
    assert.equal(await userOf(token), undefined);
    assert.equal(await userOf(later), 'bob');
    assert.deepEqual(problems, []);
  });

  it('rejects a token when it expires, and a token that had already expired', async (t) => {
    const { path, advance } = await authenticateAda(t);
    const issue = (afterMs: number): string =>
      issueToken(path, { user: 'bob', expiresAt: new Date(Date.now() + afterMs).toISOString() }).token;
    const [past, soon] = [issue(-1), issue(300)];
    const authenticate = createTokenFileAuthenticator(path);
    assert.equal(await authenticate(past), null);
    advance(299);
    assert.equal((await authenticate(soon))?.user, 'bob');
    advance(1);
    assert.equal(await authenticate(soon), null);
  });

  it('keeps the last valid tokens if the file becomes invalid, reports the problem once, and accepts a repaired file', async (t) => {
    const { path, token, userOf, problems, advance } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    await writeFile(path, good.slice(0, -10));
    for (let n = 0; n < 3; n++) {
      advance(1001);
      assert.equal(await userOf(token), 'ada');
      assert.deepEqual(problems, [
        `${path} cannot be used: it is not JSON. Correct it, or restore a backup. The last valid tokens stay in force.`,
      ]);
    }
    await writeFile(path, good.replace('"ada"', '"eve"'));
    advance(1001);
    assert.equal(await userOf(token), 'eve');
    assert.equal(problems.length, 1);
  });

  it('reports that the file was removed, and accepts no token until a valid file exists again', async (t) => {
    const { path, token, userOf, problems, advance } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    const assertReports = async (problem: string): Promise<void> => {
      advance(1001);
      assert.equal(await userOf(token), undefined);
      assert.equal(problems.at(-1), `${path} ${problem}`);
    };
    await rename(path, `${path}.away`);
    await assertReports('was removed: no token is accepted.');
    // Unlike EACCES, the error ELOOP also occurs for root.
    await symlink(path, path);
    const loop = `ELOOP: too many symbolic links encountered, stat '${path}'`;
    await assertReports(`cannot be used: ${loop}. No token is accepted.`);
    await rm(path);
    await writeFile(path, good.slice(0, -10), { mode: 0o600 });
    await assertReports('cannot be used: it is not JSON. Correct it, or restore a backup. No token is accepted.');
    await rename(`${path}.away`, path);
    advance(1001);
    assert.equal(await userOf(token), 'ada');
    assert.equal(problems.length, 3);
  });

  it('warns at startup and later if other users can read the file, by default on standard error', async (t) => {
    for (const mode of [0o640, 0o604]) {
      const { path, token, userOf, problems, advance } = await authenticateAda(t);
      await chmod(path, mode);
      advance(1001);
      assert.equal(await userOf(token), 'ada');
      const warning = `${path} can be accessed by other users of this machine: change its permissions (chmod 600).`;
      assert.deepEqual(problems, [warning]);
      const { mock } = t.mock.method(console, 'error', () => undefined);
      const another = createTokenFileAuthenticator(path);
      assert.deepEqual(mock.calls[0]?.arguments, [warning]);
      assert.equal((await another(token))?.user, 'ada');
      t.mock.reset();
    }
  });

  it('throws if the file does not exist at startup', async (t) => {
    const { path } = await authenticateAda(t);
    assert.throws(() => createTokenFileAuthenticator(`${path}.none`), /none cannot be used: ENOENT/);
  });
});
