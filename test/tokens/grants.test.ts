import assert from 'node:assert/strict';
import { chmod, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/**
 * Creates a tokens file with a token of ada, and an authenticator that adds its warnings to `problems`. Only `advance`
 * and `userOf` advance the clock. `userOf` advances it by a second, after which the authenticator checks the file.
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
  const text = await readFile(path, 'utf8');
  const problems: string[] = [];
  const before = process.cwd();
  process.chdir(dirname(path));
  // The relative path is resolved when the authenticator is created, not later.
  const authenticate = createTokenFileAuthenticator('tokens.json', { onWarning: (message) => problems.push(message) });
  process.chdir(before);
  const userOf = (other = token): string | undefined => {
    advance(1001);
    return authenticate(other)?.user;
  };
  return { path, text, token, id: record.id, authenticate, userOf, problems, advance };
}

it('createTokenFileAuthenticator › accepts only the tokens of the file, and reads changes within 1 s', async (t) => {
  const { path, token, id, authenticate, userOf, problems } = await authenticateAda(t);
  assert.deepEqual(authenticate(token), { user: 'ada', tokenId: id });
  const near = [token.slice(0, -1), `${token} `, token.toLowerCase()];
  for (const text of ['', 'ada', '__proto__', tokenDigest(token), ...near]) {
    assert.equal(authenticate(text), null, text);
  }
  const { token: later, record } = await issueToken(path, { user: 'bob', scopes: ['plants:read'] });
  assert.equal(userOf(later), 'bob');
  assert.deepEqual(authenticate(later), { user: 'bob', tokenId: record.id, scopes: ['plants:read'] });
  assert.equal(userOf(token), 'ada');
  await revokeToken(path, id);
  assert.deepEqual([userOf(token), userOf(later)], [undefined, 'bob']);
  assert.deepEqual(problems, []);
});

it('createTokenFileAuthenticator › rejects a token from the time at which it expires', async (t) => {
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

it('createTokenFileAuthenticator › keeps tokens if the file becomes invalid, but not if it is removed', async (t) => {
  const { path, text, userOf, problems } = await authenticateAda(t);
  await writeFile(path, text.slice(0, -10));
  assert.deepEqual([userOf(), userOf()], ['ada', 'ada']);
  await writeFile(path, text.replace('"ada"', '"eve"'));
  assert.equal(userOf(), 'eve');
  await rm(path);
  assert.equal(userOf(), undefined);
  await writeFile(path, text.slice(0, -10), { mode: 0o600 });
  assert.equal(userOf(), undefined);
  await writeFile(path, text);
  assert.equal(userOf(), 'ada');
  assert.equal(problems.length, 3, problems.join('\n'));
  assert.match(problems.join('\n'), /not JSON.*stay in force.*\n.*removed.*\n.*No token is accepted/);
});

it('createTokenFileAuthenticator › rejects every token while the file is a link that cannot be read', async (t) => {
  const { path, token, id, userOf, problems } = await authenticateAda(t);
  await rename(path, `${path}.away`);
  // Unlike EACCES, the error ELOOP also occurs for root. Reading /proc/self/mem fails with EIO.
  for (const target of ['tokens.json', '/proc/self/mem']) {
    await symlink(target, path);
    for (const text of [token, 'unknown']) assert.throws(() => userOf(text), { code: 'storage_unavailable' });
    await rm(path);
  }
  await rename(`${path}.away`, path);
  await revokeToken(path, id);
  assert.equal(userOf(), undefined);
  assert.equal(problems.length, 2);
  for (const problem of problems) assert.match(problem, /503/);
});

it('createTokenFileAuthenticator › warns on standard error if other users can read the file', async (t) => {
  const { path, userOf, problems } = await authenticateAda(t);
  await chmod(path, 0o640);
  assert.deepEqual([userOf(), problems], ['ada', []]);
  await chmod(path, 0o604);
  assert.deepEqual([userOf(), userOf()], ['ada', 'ada']);
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /chmod 600/);
  const { mock } = t.mock.method(console, 'error', () => undefined);
  createTokenFileAuthenticator(path);
  assert.match(String(mock.calls[0]?.arguments), /chmod 600/);
});
