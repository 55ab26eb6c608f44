import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTokenFileAuthenticator } from '../../src/http.ts';
import type { Authenticate } from '../../src/http.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { eventually } from '../support/eventually.ts';
import { runScript, tsx } from '../support/run-script.ts';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/** How soon a change must be noticed. */
const noticedWithinMs = 1000;

interface Setting {
  readonly path: string;
  readonly token: string;
  readonly id: string;
  readonly authenticate: Authenticate;
  readonly problems: string[];
}

/** A tokens file with one token for `ada`, and an `authenticate` on it. */
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
  it('knows the tokens of the file and no others', async (t) => {
    const { token, authenticate, problems } = await authenticateAda(t);
    assert.deepEqual(await authenticate(token), { user: 'ada' });
    const near = [token.slice(0, -1), `${token} `, token.toLowerCase()];
    const strangers = ['', 'ada', '__proto__', tokenDigest(token), ...near];
    for (const stranger of strangers) assert.equal(await authenticate(stranger), null, stranger);
    assert.deepEqual(problems, []);
  });

  it('notices a new token within a second', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    const { token: later } = issueToken(path, { user: 'bob', scopes: ['plants:read'] });
    await becomes(authenticate, later, 'bob');
    assert.deepEqual(await authenticate(later), { user: 'bob', scopes: ['plants:read'] });
    assert.deepEqual(await authenticate(token), { user: 'ada' });
    assert.deepEqual(problems, []);
  });

  it('notices a revocation within a second', async (t) => {
    const { path, token, id, authenticate } = await authenticateAda(t);
    revokeToken(path, id);
    await becomes(authenticate, token, undefined);
  });

  it('notices a file that was written in place, by an editor say', async (t) => {
    const { path, token, authenticate } = await authenticateAda(t);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"ada"', '"eve"'));
    await becomes(authenticate, token, 'eve');
  });

  it('refuses a token from the moment it expires', async (t) => {
    const { path } = await authenticateAda(t);
    const expiresAt = Date.now() + 300;
    const { token } = issueToken(path, { user: 'bob', expiresAt: new Date(expiresAt).toISOString() });
    const authenticate = createTokenFileAuthenticator(path);
    // The machine may have been busy elsewhere: only an answer given before the expiry must be a yes.
    const early = await authenticate(token);
    if (Date.now() < expiresAt) assert.deepEqual(early, { user: 'bob' });
    await becomes(authenticate, token, undefined);
    assert.ok(Date.now() >= expiresAt);
  });

  it('refuses a token that had expired before it started', async (t) => {
    const { path } = await authenticateAda(t);
    const { token } = issueToken(path, { user: 'bob', expiresAt: '2020-01-01T00:00:00.000Z' });
    assert.equal(await createTokenFileAuthenticator(path)(token), null);
  });

  it('keeps the last good tokens where the file turned invalid, reports it once, and takes a mended one', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    const good = await readFile(path, 'utf8');
    await writeFile(path, good.slice(0, -10));
    await eventually(async () => {
      assert.deepEqual(await authenticate(token), { user: 'ada' });
      assert.deepEqual(problems, [`${path} cannot be used: it is not JSON. The last valid tokens stay in force.`]);
    }, noticedWithinMs);
    // Long enough that the next request waits until the file has been read again.
    await sleep(1100);
    assert.deepEqual(await authenticate(token), { user: 'ada' });
    assert.equal(problems.length, 1);

    await writeFile(path, good.replace('"ada"', '"eve"'));
    await becomes(authenticate, token, 'eve');
    assert.equal(problems.length, 1);
  });

  it('notices a revocation that it could not read at first, for want of file descriptors', async (t) => {
    const { path, token, id } = await authenticateAda(t);
    const url = (file: string): string => JSON.stringify(new URL(`../../src/tokens/${file}`, import.meta.url).href);
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      import { createTokenFileAuthenticator } from ${url('authenticator.ts')};
      import { revokeToken } from ${url('issue.ts')};
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
      console.log(JSON.stringify([before, await authenticate(token), problems.length, /EMFILE/.test(problems[0])]));`;
    const node = `ulimit -n 64; exec '${process.execPath}' --import '${tsx}' --input-type=module --eval "$0"`;
    const stdout = await runScript('sh', ['-c', node, script], { cwd: dirname(path) });
    assert.deepEqual(JSON.parse(stdout), [{ user: 'ada' }, null, 1, true]);
  });

  it('accepts no token where the file was removed, reports it, and accepts them again when it is back', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    await rename(path, `${path}.away`);
    await becomes(authenticate, token, undefined);
    assert.deepEqual(problems, [`${path} was removed: no token is accepted.`]);
    await rename(`${path}.away`, path);
    await becomes(authenticate, token, 'ada');
    assert.equal(problems.length, 1);
  });

  it('reports a file that can no longer be looked at, and fails no request for it', async (t) => {
    const { path, token, authenticate, problems } = await authenticateAda(t);
    await rm(path);
    // Stands for every error of stat() but ENOENT, and unlike EACCES it is one for root too.
    await symlink(path, path);
    const deadline = performance.now() + noticedWithinMs;
    while (problems.length === 0 && performance.now() < deadline) {
      await authenticate(token);
      await sleep(10);
    }
    assert.equal(problems.length, 1);
  });

  for (const [who, mode] of Object.entries({ 'the group': 0o640, 'all others': 0o604 })) {
    it(`warns where ${who} can read the file, at the start and later, and uses it all the same`, async (t) => {
      const { path, token, authenticate, problems } = await authenticateAda(t);
      const warning = `${path} can be accessed by other users of this machine: change its permissions (chmod 600).`;
      await chmod(path, mode);
      await eventually(async () => {
        assert.deepEqual(await authenticate(token), { user: 'ada' });
        assert.deepEqual(problems, [warning]);
      }, noticedWithinMs);

      const atStart: string[] = [];
      const another = createTokenFileAuthenticator(path, { onWarning: (message) => atStart.push(message) });
      assert.deepEqual(atStart, [warning]);
      assert.deepEqual(await another(token), { user: 'ada' });
    });
  }

  it('reports to standard error where it is not told where to', async (t) => {
    const { path } = await authenticateAda(t);
    await chmod(path, 0o644);
    const module = new URL('../../src/tokens/authenticator.ts', import.meta.url);
    const script = `import { createTokenFileAuthenticator } from '${module.href}';
      createTokenFileAuthenticator(process.argv[1]);`;
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', script, path];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(child, 'exit') as Promise<[number | null]>;
    const [stderr, [code]] = await Promise.all([text(child.stderr), exited]);
    assert.equal(
      stderr,
      `${path} can be accessed by other users of this machine: change its permissions (chmod 600).\n`,
    );
    assert.equal(code, 0);
  });

  it('throws where there is no file to begin with, and where it is invalid', async (t) => {
    const { path } = await authenticateAda(t);
    await copyFile(path, `${path}.bad`);
    await writeFile(`${path}.bad`, '{"version":1}');
    assert.throws(() => createTokenFileAuthenticator(`${path}.none`), /none cannot be used: ENOENT/);
    assert.throws(() => createTokenFileAuthenticator(`${path}.bad`), /bad cannot be used: it is not \{"version":1/);
    assert.throws(() => createTokenFileAuthenticator(dirname(path)), /cannot be used: it is not a file/);
  });

  it('names a wrong option', async (t) => {
    const { path } = await authenticateAda(t);
    const onWarning = 'console.error' as unknown as () => void;
    assert.throws(() => createTokenFileAuthenticator(path, { onWarning }), { name: 'TypeError', message: /onWarning/ });
  });
});

describe('a service that authenticates by a tokens file', () => {
  it('holds each token to its user and its scopes', async (t) => {
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
