import assert from 'node:assert/strict';
import { chmod, copyFile, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import type { Authenticate } from '../../src/tokens.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { eventually } from '../support/eventually.ts';
import { evalArgs, runProgram, runSuccessfully } from '../support/run-program.ts';
import { startService } from '../support/service.ts';
import { sourceUrl, tsx } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/** The maximum time until a change takes effect. */
const noticedWithinMs = 1000;

interface Setting {
  readonly path: string;
  readonly token: string;
  readonly id: string;
  readonly authenticate: Authenticate;
  readonly problems: string[];
}

/** Makes a tokens file with one token of ada, and an `authenticate` that reads it. */
async function authenticateAda(t: HasAfter): Promise<Setting> {
  const path = join(await temporaryFolder(t), 'tokens.json');
  const { token, record } = issueToken(path, { user: 'ada' });
  const problems: string[] = [];
  const authenticate = createTokenFileAuthenticator(path, { onWarning: (message) => problems.push(message) });
  return { path, token, id: record.id, authenticate, problems };
}

async function becomes(authenticate: Authenticate, token: string, user: string | undefined): Promise<void> {
  await eventually(async () => {
    assert.equal((await authenticate(token))?.user, user);
  }, noticedWithinMs);
}

describe('createTokenFileAuthenticator', () => {
  it('accepts the tokens of the file and no others', async (t) => {
    const { token, id, authenticate, problems } = await authenticateAda(t);
    assert.deepEqual(await authenticate(token), { user: 'ada', tokenId: id });
    const near = [token.slice(0, -1), `${token} `, token.toLowerCase()];
    const unknown = ['', 'ada', '__proto__', tokenDigest(token), ...near];
    for (const text of unknown) assert.equal(await authenticate(text), null, text);
    assert.deepEqual(problems, []);
  });

  it('accepts a new token within a second', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    const { token: later, record } = issueToken(path, { user: 'bob', scopes: ['plants:read'] });
    await becomes(authenticate, later, 'bob');
    assert.deepEqual(await authenticate(later), { user: 'bob', tokenId: record.id, scopes: ['plants:read'] });
    assert.equal((await authenticate(token))?.user, 'ada');
    assert.deepEqual(problems, []);
  });

  it('rejects a revoked token within a second', async (t) => {
    const { path, token, id, authenticate } = await authenticateAda(t);
    revokeToken(path, id);
    await becomes(authenticate, token, undefined);
  });

  it('notices a file that was changed in place', async (t) => {
    const { path, token, authenticate } = await authenticateAda(t);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"ada"', '"eve"'));
    await becomes(authenticate, token, 'eve');
  });

  it('rejects a token when it expires', async (t) => {
    const { path } = await authenticateAda(t);
    const expiresAt = Date.now() + 300;
    const { token } = issueToken(path, { user: 'bob', expiresAt: new Date(expiresAt).toISOString() });
    const authenticate = createTokenFileAuthenticator(path);
    // On a busy machine the token may have expired before the first call returns.
    const early = await authenticate(token);
    if (Date.now() < expiresAt) assert.equal(early?.user, 'bob');
    await becomes(authenticate, token, undefined);
    assert.ok(Date.now() >= expiresAt);
  });

  it('rejects a token that expired before the authenticator was created', async (t) => {
    const { path } = await authenticateAda(t);
    const { token } = issueToken(path, { user: 'bob', expiresAt: '2020-01-01T00:00:00.000Z' });
    assert.equal(await createTokenFileAuthenticator(path)(token), null);
  });

  it('keeps the last valid tokens if the file becomes invalid, reports it once, and accepts a repaired file', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    await writeFile(path, good.slice(0, -10));
    await eventually(async () => {
      assert.equal((await authenticate(token))?.user, 'ada');
      assert.deepEqual(problems, [`${path} cannot be used: it is not JSON. The last valid tokens stay in force.`]);
    }, noticedWithinMs);
    // After this time the next request waits until the file was read again.
    await sleep(1100);
    assert.equal((await authenticate(token))?.user, 'ada');
    assert.equal(problems.length, 1);

    await writeFile(path, good.replace('"ada"', '"eve"'));
    await becomes(authenticate, token, 'eve');
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
      await sleep(600);
      takeAll();
      const before = authenticate(token);
      await sleep(600);
      takeAll();
      authenticate(token);
      taken.forEach((descriptor) => closeSync(descriptor));
      await sleep(600);
      console.log(JSON.stringify([before.user, await authenticate(token), problems.length, /EMFILE/.test(problems[0])]));`;
    const node = `ulimit -n 64; exec '${process.execPath}' --import '${tsx}' --input-type=module --eval "$0"`;
    const stdout = await runSuccessfully('sh', ['-c', node, script], { cwd: dirname(path) });
    assert.deepEqual(JSON.parse(stdout), ['ada', null, 1, true]);
  });

  it('accepts no token while the file is removed, and reports it', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    await rename(path, `${path}.away`);
    await becomes(authenticate, token, undefined);
    assert.deepEqual(problems, [`${path} was removed: no token is accepted.`]);
    await rename(`${path}.away`, path);
    await becomes(authenticate, token, 'ada');
    assert.equal(problems.length, 1);
  });

  it('accepts no token if the file is unreadable or invalid after it was removed, and reports it', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    const reports = (problem: string): Promise<void> =>
      eventually(async () => {
        assert.equal(await authenticate(token), null);
        assert.equal(problems.at(-1), `${path} ${problem}`);
      }, noticedWithinMs);
    await rm(path);
    await becomes(authenticate, token, undefined);
    await reports('was removed: no token is accepted.');
    // Unlike EACCES, the error ELOOP also occurs for root.
    await symlink(path, path);
    await reports(`cannot be used: ELOOP: too many symbolic links encountered, stat '${path}'. No token is accepted.`);
    await rm(path);
    await writeFile(path, good.slice(0, -10), { mode: 0o600 });
    await reports('cannot be used: it is not JSON. No token is accepted.');
    await writeFile(path, good);
    await becomes(authenticate, token, 'ada');
    assert.equal(problems.length, 3);
  });

  it('reports a file that it can no longer stat, and rejects no request because of it', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    await rm(path);
    // ELOOP represents all errors of stat() except ENOENT. Unlike EACCES, it also occurs for root.
    await symlink(path, path);
    const deadline = performance.now() + noticedWithinMs;
    while (problems.length === 0 && performance.now() < deadline) {
      await authenticate(token);
      await sleep(10);
    }
    assert.equal(problems.length, 1);
  });

  for (const [who, mode] of Object.entries({ 'the group': 0o640, 'all others': 0o604 })) {
    it(`warns if ${who} can read the file, at the start and later, and uses the file`, async (t) => {
      const { path, token, authenticate, problems } = await authenticateAda(t);
      const warning = `${path} can be accessed by other users of this machine: change its permissions (chmod 600).`;
      await chmod(path, mode);
      await eventually(async () => {
        assert.equal((await authenticate(token))?.user, 'ada');
        assert.deepEqual(problems, [warning]);
      }, noticedWithinMs);

      const atStart: string[] = [];
      const another = createTokenFileAuthenticator(path, { onWarning: (message) => atStart.push(message) });
      assert.deepEqual(atStart, [warning]);
      assert.equal((await another(token))?.user, 'ada');
    });
  }

  it('writes warnings to standard error by default', async (t) => {
    const { path } = await authenticateAda(t);
    await chmod(path, 0o644);
    const script = `import { createTokenFileAuthenticator } from '${sourceUrl('tokens/authenticator.ts')}';
      createTokenFileAuthenticator(process.argv[1]);`;
    const { code, stderr } = await runProgram(process.execPath, evalArgs(script, [path]));
    assert.equal(
      stderr,
      `${path} can be accessed by other users of this machine: change its permissions (chmod 600).\n`,
    );
    assert.equal(code, 0);
  });

  it('throws if the file does not exist or is invalid at the start', async (t) => {
    const { path } = await authenticateAda(t);
    await copyFile(path, `${path}.bad`);
    await writeFile(`${path}.bad`, '{"version":1}');
    assert.throws(() => createTokenFileAuthenticator(`${path}.none`), /none cannot be used: ENOENT/);
    assert.throws(() => createTokenFileAuthenticator(`${path}.bad`), /bad cannot be used: it is not \{"version":1/);
    assert.throws(() => createTokenFileAuthenticator(dirname(path)), /cannot be used: it is not a file/);
  });

  it('rejects an invalid option with a TypeError that names it', async (t) => {
    const { path } = await authenticateAda(t);
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
