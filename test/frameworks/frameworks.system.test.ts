import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assertTestsPassed, plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { findProgram } from '../support/installed-program.ts';
import { checkDisconnects } from './check-disconnects.ts';
import { checkService } from './check-service.ts';
import type { Send } from './check-service.ts';
import { arePackagesInstalled, createGarden, examples, otherRuntimes, startProgram } from './program.ts';
import type { Running } from './program.ts';
import { startIssuer } from './issuer.ts';

const send: Send = (request) => fetch(request);

/** Checks a running program with every kind of request and with clients that disconnect. */
async function check(running: Running, prefix = '', token = 'secret'): Promise<void> {
  await checkService(send, running.url + prefix, token);
  await checkDisconnects(running.url + prefix, token);
  assert.ok(running.isAlive(), running.output());
  assert.doesNotMatch(running.output(), /unhandled|uncaught|failed:|[a-z]Error\b/i);
}

/** Starts an example under the Node.js that runs the tests. */
function startExample(t: TestContext, name: string, env?: Record<string, string>): Promise<Running> {
  return startProgram(t, process.execPath, [join(examples, name)], env);
}

describe('examples/frameworks', () => {
  for (const name of ['nextjs', 'sveltekit']) {
    it(`${name}: the route handler serves every request`, async (t) => {
      if (!arePackagesInstalled(t)) return;
      // The module opens `plants.db` in the working directory, so the requests are sent by another process.
      const script = `
        const route = await import(${JSON.stringify(pathToFileURL(join(examples, `${name}.ts`)).href)});
        const { checkService } = await import(${JSON.stringify(new URL('check-service.ts', import.meta.url).href)});
        const send = (request) => route.fallback?.({ request }) ?? route[request.method](request, { params: {} });
        await checkService(send, 'http://localhost:3000/garden', 'secret');
        console.log('checked');
      `;
      const env = { ...plainEnvironment(), NODE_V8_COVERAGE: '', ADAS_TOKEN: 'secret' };
      const args = ['--input-type=module', '--eval', script];
      assert.equal(await runSuccessfully(process.execPath, args, { cwd: await createGarden(t), env }), 'checked\n');
    });
  }

  for (const [name, prefix, ownPath] of [
    ['hono', '/garden', '/'],
    ['express', '/garden', '/'],
    ['fastify', '/garden', '/'],
    ['koa', '/garden', '/'],
    ['srvx', '', undefined],
  ] as const) {
    it(`${name}: serves every request, beside the app`, async (t) => {
      if (!arePackagesInstalled(t)) return;
      const running = await startExample(t, `${name}.ts`);
      await check(running, prefix);
      if (ownPath === undefined) return;
      const response = await fetch(running.url + ownPath);
      assert.deepEqual([response.status, await response.text()], [200, 'the app itself']);
    });
  }

  for (const { name, path, args } of otherRuntimes) {
    it(`bun-and-deno: serves every request under ${name}`, async (t) => {
      const program = findProgram(t, 'runtimes', path);
      if (program === undefined || !arePackagesInstalled(t)) return;
      await check(await startProgram(t, program, [...args, join(examples, 'bun-and-deno.ts')]));
    });
  }

  it('pino-http: logs every request without the token', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const running = await startExample(t, 'pino-http.ts');
    await checkService(send, running.url, 'secret');
    const lines = running.output().split('\n');
    assert.ok(lines.some((line) => line.includes('"url":"/plants?limit=1"') && line.includes('"statusCode":200')));
    assert.doesNotMatch(running.output(), /secret/);
  });

  it('opentelemetry: exports a span for every request', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const running = await startExample(t, 'opentelemetry.ts');
    await check(running);
    await fetch(`${running.url}/plants/1?traced`, { method: 'DELETE', headers: { authorization: 'Bearer secret' } });
    while (!running.output().includes('traced')) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.match(running.output(), /'http\.status_code': 404|'http\.response\.status_code': 404/);
  });

  it('jose: accepts the access tokens of an issuer, and no others', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const issuer = await startIssuer(t);
    const running = await startExample(t, 'jose.ts', { ISSUER: issuer.url });
    await check(running, '', await issuer.sign());
    const statusFor = async (token: string, method = 'GET'): Promise<number> =>
      (await fetch(`${running.url}/plants?limit=1`, { method, headers: { authorization: `Bearer ${token}` } })).status;
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
    const headers = { authorization: `Bearer ${await issuer.sign()}` };
    assert.equal((await fetch(`${offline.url}/plants`, { headers })).status, 500);
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
