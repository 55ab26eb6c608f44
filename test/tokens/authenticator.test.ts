import assert from 'node:assert/strict';
import { chmod, copyFile, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { startService } from '../support/service.ts';
import { sourceUrl, tsx } from '../support/sources.ts';
import { authenticateAda, mockClock } from './authenticate-ada.ts';

const openWarning = (path: string): string =>
  `${path} can be accessed by other users of this machine: change its permissions (chmod 600).`;

describe('createTokenFileAuthenticator', () => {
  it('accepts the tokens of the file and no others', async (t) => {
    const { token, id, authenticate, problems } = await authenticateAda(t);
    assert.deepEqual(await authenticate(token), { user: 'ada', tokenId: id });
    const near = [token.slice(0, -1), `${token} `, token.toLowerCase()];
    const unknown = ['', 'ada', '__proto__', tokenDigest(token), ...near];
    for (const text of unknown) assert.equal(await authenticate(text), null, text);
    assert.deepEqual(problems, []);
  });

  it('accepts a new token and rejects a revoked one within a second', async (t) => {
    const { path, token, id, authenticate, userOf, problems } = await authenticateAda(t);
    const { token: later, record } = issueToken(path, { user: 'bob', scopes: ['plants:read'] });
    await eventuallyEqual(() => userOf(later), 'bob', 1000);
    assert.deepEqual(await authenticate(later), { user: 'bob', tokenId: record.id, scopes: ['plants:read'] });
    assert.equal(await userOf(token), 'ada');
    revokeToken(path, id);
    await eventuallyEqual(() => userOf(token), undefined, 1000);
    assert.equal(await userOf(later), 'bob');
    assert.deepEqual(problems, []);
  });

  it('is up to date at the first request after an idle period', async (t) => {
    const advance = mockClock(t);
    const { path, token, id, userOf } = await authenticateAda(t);
    assert.equal(await userOf(token), 'ada');
    revokeToken(path, id);
    advance(1001);
    assert.equal(await userOf(token), undefined);
  });

  it('notices a file that was changed in place', async (t) => {
    const advance = mockClock(t);
    const { path, token, userOf } = await authenticateAda(t);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"ada"', '"eve"'));
    advance(1001);
    assert.equal(await userOf(token), 'eve');
  });

  it('rejects a token when it expires, and one that expired before', async (t) => {
    const advance = mockClock(t);
    const { path } = await authenticateAda(t);
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

  it('keeps the last valid tokens if the file becomes invalid, reports it once, and accepts a repaired file', async (t) => {
    const advance = mockClock(t);
    const { path, token, userOf, problems } = await authenticateAda(t);
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

  it('notices a revocation that it could not read at first because no file descriptor was free', async (t) => {
    const { path, token, id } = await authenticateAda(t);
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      import { createTokenFileAuthenticator } from '${sourceUrl('tokens/authenticator.ts')}';
      import { revokeToken } from '${sourceUrl('tokens/issue.ts')}';
      const [path, token, id] = ${JSON.stringify([path, token, id])};
      const problems = [];
      const authenticate = createTokenFileAuthenticator(path, { onWarning: (problem) => problems.push(problem) });
      revokeToken(path, id);
      const taken = [];
      const takeAll = () => { try { for (;;) taken.push(openSync('/dev/null')); } catch {} };
      await sleep(510);
      takeAll();
      const before = authenticate(token);
      await sleep(510);
      takeAll();
      authenticate(token);
      taken.forEach((descriptor) => closeSync(descriptor));
      await sleep(510);
      console.log(JSON.stringify([before.user, await authenticate(token), problems.length, /EMFILE/.test(problems[0])]));`;
    const node = `ulimit -n 64; exec '${process.execPath}' --import '${tsx}' --input-type=module --eval "$0"`;
    const stdout = await runSuccessfully('sh', ['-c', node, script], { cwd: dirname(path) });
    assert.deepEqual(JSON.parse(stdout), ['ada', null, 1, true]);
  });

  it('accepts no token while the file is removed, and reports it', async (t) => {
    const advance = mockClock(t);
    const { path, token, userOf, problems } = await authenticateAda(t);
    await rename(path, `${path}.away`);
    advance(1001);
    assert.equal(await userOf(token), undefined);
    assert.deepEqual(problems, [`${path} was removed: no token is accepted.`]);
    await rename(`${path}.away`, path);
    advance(1001);
    assert.equal(await userOf(token), 'ada');
    assert.equal(problems.length, 1);
  });

  it('accepts no token if the file is unreadable or invalid after it was removed, and reports it', async (t) => {
    const advance = mockClock(t);
    const { path, token, userOf, problems } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    const assertReports = async (problem: string): Promise<void> => {
      advance(1001);
      assert.equal(await userOf(token), undefined);
      assert.equal(problems.at(-1), `${path} ${problem}`);
    };
    await rm(path);
    await assertReports('was removed: no token is accepted.');
    // Unlike EACCES, the error ELOOP also occurs for root.
    await symlink(path, path);
    const loop = `ELOOP: too many symbolic links encountered, stat '${path}'`;
    await assertReports(`cannot be used: ${loop}. No token is accepted.`);
    await rm(path);
    await writeFile(path, good.slice(0, -10), { mode: 0o600 });
    await assertReports('cannot be used: it is not JSON. Correct it, or restore a backup. No token is accepted.');
    await writeFile(path, good);
    advance(1001);
    assert.equal(await userOf(token), 'ada');
    assert.equal(problems.length, 3);
  });

  for (const [who, mode] of Object.entries({ 'the group': 0o640, 'all others': 0o604 })) {
    it(`warns if ${who} can read the file, at the start and later, and uses the file`, async (t) => {
      const advance = mockClock(t);
      const { path, token, userOf, problems } = await authenticateAda(t);
      await chmod(path, mode);
      advance(1001);
      assert.equal(await userOf(token), 'ada');
      assert.deepEqual(problems, [openWarning(path)]);

      const atStart: string[] = [];
      const another = createTokenFileAuthenticator(path, { onWarning: (message) => atStart.push(message) });
      assert.deepEqual(atStart, [openWarning(path)]);
      assert.equal((await another(token))?.user, 'ada');
    });
  }

  it('writes warnings to standard error by default', async (t) => {
    const { path } = await authenticateAda(t);
    await chmod(path, 0o644);
    const printed = t.mock.method(console, 'error', () => undefined);
    createTokenFileAuthenticator(path);
    assert.deepEqual(
      printed.mock.calls.map((call) => call.arguments),
      [[openWarning(path)]],
    );
  });

  it('throws if the file does not exist or is invalid at the start, or if an option is invalid', async (t) => {
    const { path } = await authenticateAda(t);
    await copyFile(path, `${path}.bad`);
    await writeFile(`${path}.bad`, '{"version":1}');
    assert.throws(() => createTokenFileAuthenticator(`${path}.none`), /none cannot be used: ENOENT/);
    assert.throws(() => createTokenFileAuthenticator(`${path}.bad`), /bad cannot be used: it is not \{"version":1/);
    assert.throws(() => createTokenFileAuthenticator(dirname(path)), /cannot be used: it is not a file/);
    const onWarning = 'console.error' as unknown as () => void;
    assert.throws(() => createTokenFileAuthenticator(path, { onWarning }), { name: 'TypeError', message: /onWarning/ });
  });
});

describe('service with a tokens file', () => {
  it('limits each token to its user and its scopes', async (t) => {
    const { path, token: ada } = await authenticateAda(t);
    const { token: reads } = issueToken(path, { user: 'ada', scopes: ['plants:read'] });
    const { token: writes } = issueToken(path, { user: 'ada', scopes: ['plants:write'] });
    const { token: none } = issueToken(path, { user: 'ada', scopes: [] });
    const { token: bob } = issueToken(path, { user: 'bob' });
    const service = await startService(t, { authenticate: createTokenFileAuthenticator(path) });
    const body = '{"id":1,"name":"Basil"}';
    const statuses = async (token: string): Promise<number[]> => [
      (await service.call('POST', '/plants', { token, body })).status,
      (await service.call('GET', '/plants', { token })).status,
      (await service.call('DELETE', '/plants/2', { token })).status,
    ];
    assert.deepEqual(await statuses(reads), [403, 200, 403]);
    assert.deepEqual(await statuses(writes), [200, 403, 404]);
    assert.deepEqual(await statuses(none), [403, 403, 403]);
    assert.deepEqual((await service.call('GET', '/plants', { token: ada })).json, [{ name: 'Basil' }]);
    assert.deepEqual((await service.call('GET', '/plants', { token: bob })).json, []);
    const refusal = await service.call('GET', '/plants', { token: writes });
    const challenge = 'Bearer realm="plants", error="insufficient_scope", scope="plants:read"';
    assert.equal(refusal.headers.get('www-authenticate'), challenge);
  });
});
