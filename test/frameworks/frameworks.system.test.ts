import assert from 'node:assert/strict';
import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { listenUrl } from '../support/listen.ts';
import { assertTestsPassed, plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { arePackagesInstalled, examples, startProgram } from './program.ts';

async function startExample(t: TestContext, name: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  return startProgram(t, [process.execPath, join(examples, name)], await temporaryFolder(t), env);
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Starts a local OpenID Connect provider that publishes its key. `sign` returns an access token for ada with both
 * scopes. The given claims replace the token's default claims. The provider does not publish the key `stranger`.
 */
async function startIssuer(t: TestContext) {
  const [own, stranger] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const keys = [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', alg: 'EdDSA', use: 'sig' }];
  const server = createServer((message, response) => {
    if (message.url === '/.well-known/jwks.json') response.end(JSON.stringify({ keys }));
    else response.writeHead(503).end();
  });
  const url = await listenUrl(t, server);
  const exp = Math.floor(Date.now() / 1000) + 600;
  const valid = { iss: url, aud: 'plants', sub: 'ada', exp, scope: 'plants:read plants:write' };
  const sign = (claims: Partial<Record<keyof typeof valid, unknown>> = {}, { privateKey } = own): string => {
    const signed = `${encode({ alg: 'EdDSA', kid: 'own', typ: 'at+jwt' })}.${encode({ ...valid, ...claims })}`;
    return `${signed}.${signBytes(null, Buffer.from(signed), privateKey).toString('base64url')}`;
  };
  return { url, sign, stranger };
}

describe('examples/frameworks', { concurrency: 2 }, () => {
  it('pino-http.ts › logs every request with the id of the response, but not the token', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const { url, stdout, stderr } = await startExample(t, 'pino-http.ts');
    const response = await fetch(`${url}/plants?limit=1`, { headers: { authorization: 'Bearer secret' } });
    const id = response.headers.get('x-request-id') ?? '';
    assert.ok(id.length > 0);
    await eventually(() => {
      assert.ok(stdout().includes(`"id":"${id}"`), stdout());
    });
    assert.doesNotMatch(stdout() + stderr(), /secret/);
  });

  it('sessions.ts › accepts a cookie, and keeps the connection usable after it refused a large body', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const { url } = await startExample(t, 'sessions.ts', { SESSION: 's1' });
    const call = async (method: string, body?: string): Promise<string> => {
      const headers = { cookie: 'session=s1', 'content-type': 'application/json' };
      return (await fetch(`${url}/plants`, { method, headers, ...(body !== undefined && { body }) })).text();
    };
    assert.equal(await call('POST', '{"id":1,"name":"Fern"}'), '{"name":"Fern"}');
    for (let n = 0; n < 3; n++) {
      assert.match(await call('POST', `{"id":2,"name":"${'x'.repeat(3_000_000)}"}`), /^\{"error":40008,/);
      assert.equal(await call('GET'), '[{"name":"Fern"}]');
    }
    assert.equal((await fetch(`${url}/plants`)).status, 401);
  });

  it('jose.ts › accepts only the access tokens of its issuer', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const { url: ISSUER, sign, stranger } = await startIssuer(t);
    const { url } = await startExample(t, 'jose.ts', { ISSUER });
    const statusFor = async (token: string, method = 'GET', base = url): Promise<number> => {
      return (await fetch(`${base}/plants`, { method, headers: { authorization: `Bearer ${token}` } })).status;
    };
    assert.equal(await statusFor(sign({ scope: 'openid plants:read' })), 200);
    assert.equal(await statusFor(sign({ scope: 'openid plants:read' }), 'POST'), 403);
    assert.equal(await statusFor(sign({ scope: '' })), 403);
    const claims = [{ aud: 'orders' }, { iss: 'https://other.example' }, { exp: 1 }, { sub: undefined }, { sub: '' }];
    for (const token of [...claims.map((claim) => sign(claim)), sign({}, stranger), 'opaque', 'a.b.c']) {
      assert.equal(await statusFor(token), 401, token);
    }
    const offline = await startExample(t, 'jose.ts', { ISSUER, JWKS_URL: `${ISSUER}/offline` });
    assert.equal(await statusFor(sign(), 'GET', offline.url), 500);
  });

  it('node-test.test.ts › passes under node --test', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const args = ['--test', join(examples, 'node-test.test.ts')];
    assertTestsPassed(await runSuccessfully(process.execPath, args, { cwd: examples }));
  });

  it('vitest.test.ts › passes under Vitest', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const vitest = join(examples, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--root', examples, 'vitest.test.ts'];
    const env = { ...plainEnvironment(), NO_COLOR: '1' };
    assert.match(await runSuccessfully(process.execPath, args, { cwd: examples, env }), /Tests +2 passed/);
  });

  it('TypeScript › accepts every example', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
    await runSuccessfully(process.execPath, [tsc, '-p', examples], { cwd: examples });
  });
});
