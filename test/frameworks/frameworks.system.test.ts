import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { callService } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { assertTestsPassed, plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { arePackagesInstalled, createGarden, examples, startProgram } from './program.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { startIssuer } from './issuer.ts';

/** Starts an example under the Node.js that runs the tests. */
async function startExample(t: TestContext, name: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  return startProgram(t, process.execPath, [join(examples, name)], { cwd: await createGarden(t, 'ada'), env });
}

describe('examples/frameworks', () => {
  it('pino-http: logs every request without the token', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const { url, stdout, stderr } = await startExample(t, 'pino-http.ts');
    assert.equal((await callService(url, 'GET', '/plants?limit=1', { token: 'secret' })).status, 200);
    await eventually(() => {
      const lines = stdout().split('\n');
      assert.ok(lines.some((line) => line.includes('"url":"/plants?limit=1"') && line.includes('"statusCode":200')));
    });
    assert.doesNotMatch(stdout() + stderr(), /secret/);
  });

  it('jose: accepts the access tokens of an issuer, and no others', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const issuer = await startIssuer(t);
    const { url } = await startExample(t, 'jose.ts', { ISSUER: issuer.url });
    const statusFor = async (token: string, method: 'GET' | 'POST' = 'GET'): Promise<number> =>
      (await callService(url, method, '/plants?limit=1', { token })).status;
    assert.equal(await statusFor(await issuer.sign()), 200);
    assert.equal(await statusFor(await issuer.sign({ scope: 'openid plants:read' })), 200);
    assert.equal(await statusFor(await issuer.sign({ scope: 'openid plants:read' }), 'POST'), 403);
    assert.equal(await statusFor(await issuer.sign({ scope: '' })), 403);
    for (const token of [
      await issuer.sign({ aud: 'orders' }),
      await issuer.sign({ iss: 'https://other.example' }),
      await issuer.sign({ exp: 1 }),
      await issuer.sign({ sub: undefined }),
      await issuer.sign({ sub: '' }),
      await issuer.signByStranger(),
      'opaque',
      'a.b.c',
    ]) {
      assert.equal(await statusFor(token), 401, token);
    }
    const offline = await startExample(t, 'jose.ts', { ISSUER: issuer.url, JWKS_URL: `${issuer.url}/offline` });
    assert.equal((await callService(offline.url, 'GET', '/plants', { token: await issuer.sign() })).status, 500);
  });

  it('node-test: passes under node --test', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const args = ['--test', join(examples, 'node-test.test.ts')];
    assertTestsPassed(await runSuccessfully(process.execPath, args, { cwd: examples }));
  });

  it('vitest: passes under Vitest', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const vitest = join(examples, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--root', examples, 'vitest.test.ts'];
    const env = { ...plainEnvironment(), NO_COLOR: '1' };
    assert.match(await runSuccessfully(process.execPath, args, { cwd: examples, env }), /Tests +2 passed/);
  });

  it('has types that TypeScript accepts', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
    await runSuccessfully(process.execPath, [tsc, '-p', examples], { cwd: examples });
  });
});
