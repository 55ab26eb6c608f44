import assert from 'node:assert/strict';
import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listenUrl } from '../support/listen.ts';
import { assertTestsPassed, evalArgs, plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { addPlantStore, apps, examples, startProgram } from './program.ts';

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

/**
 * Creates plants of the users 1, 2 and 3 at the same time, a plant of 4 over HTTP, and a plant of 5, whose commit
 * fails. Then checks the spans.
 */
const tracedProgram = `
  import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
  import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
  import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
  import assert from 'node:assert/strict';
  import { once } from 'node:events';
  import { createRequire } from 'node:module';
  import { tracePlants } from './opentelemetry.ts';

  const exporter = new InMemorySpanExporter();
  tracePlants([new SimpleSpanProcessor(exporter)]);
  new HttpInstrumentation();
  createRequire(import.meta.url)('node:http');
  const { MemoryStorage, PlantStore } = await import('plant-store');
  const { createFetchHandler } = await import('plant-store/fetch');
  const { createPlantServer } = await import('plant-store/http');
  const storage = new MemoryStorage();
  const store = new PlantStore({ storage });
  const options = { authenticate: (user) => ({ user }), onError() {} };
  const plants = createFetchHandler(store, options);
  const create = async (digit, send = plants, url = 'http://test') => {
    const traceparent = '00-' + digit.repeat(32) + '-' + digit.repeat(16) + '-01';
    const headers = { authorization: 'Bearer user-' + digit, 'content-type': 'application/json', traceparent };
    const body = '{"id":1,"name":"Fern"}';
    await (await send(new Request(url + '/plants', { method: 'POST', headers, body }))).text();
  };
  await Promise.all(['1', '2', '3'].map((digit) => create(digit)));
  const server = createPlantServer(store, options).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await create('4', fetch, 'http://127.0.0.1:' + server.address().port);
  server.close();
  storage.commit = () => Promise.reject(new Error('The disk failed'));
  await create('5');

  const spans = exporter.getFinishedSpans();
  const [requests, commits] = ['POST /plants', 'commit'].map((name) => spans.filter((span) => span.name === name));
  const http = spans.find((span) => span.kind === SpanKind.SERVER && !requests.includes(span));
  const idOf = (span) => span.spanContext().spanId;
  const parentOf = (span) => [span.spanContext().traceId[0], span.parentSpanContext?.spanId];
  const isError = ({ status }) => status.code === SpanStatusCode.ERROR;
  assert.deepEqual(parentOf(http), ['4', '4'.repeat(16)]);
  assert.deepEqual(
    requests.map((span) => [...parentOf(span), span.kind, isError(span)]).sort(),
    ['1', '2', '3', '4', '5'].map((digit) => digit === '4'
      ? ['4', idOf(http), SpanKind.INTERNAL, false]
      : [digit, digit.repeat(16), SpanKind.SERVER, digit === '5']),
  );
  const linked = commits.flatMap(({ links }) => links.map(({ context }) => context.spanId));
  assert.deepEqual(linked.sort(), requests.map(idOf).sort());
  for (const commit of commits) assert.equal(commit.parentSpanContext, undefined);
  assert.deepEqual(commits.filter(isError), commits.slice(-1));`;

describe('examples/frameworks', { concurrency: 2, skip: addPlantStore(examples) }, () => {
  it('pino-http.ts › logs every request with the id of the response, but not the token', async (t) => {
    const { url, stdout, stderr, printed } = await startExample(t, 'pino-http.ts');
    const response = await fetch(`${url}/plants?limit=1`, { headers: { authorization: 'Bearer secret' } });
    const id = response.headers.get('x-request-id') ?? '';
    assert.ok(id.length > 0);
    await printed(new RegExp(`"id":"${id}"`));
    assert.doesNotMatch(stdout() + stderr(), /secret/);
  });

  it('sessions.ts › accepts a cookie, and responds to later requests after it refuses a large body', async (t) => {
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
    const { url: ISSUER, sign, stranger } = await startIssuer(t);
    const { url } = await startExample(t, 'jose.ts', { ISSUER });
    const statusFor = async (token: string, method = 'GET', base = url): Promise<number> =>
      (await fetch(`${base}/plants`, { method, headers: { authorization: `Bearer ${token}` } })).status;
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

  it('node-test.test.ts › passes under node --test', async () => {
    const args = ['--test', join(examples, 'node-test.test.ts')];
    assertTestsPassed(await runSuccessfully(process.execPath, args, { cwd: examples }));
  });

  it('vitest.test.ts › passes under Vitest', async () => {
    const vitest = join(examples, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--root', examples, 'vitest.test.ts'];
    const env = { ...plainEnvironment(), NO_COLOR: '1' };
    assert.match(await runSuccessfully(process.execPath, args, { cwd: examples, env }), /Tests +2 passed/);
  });

  it('opentelemetry.ts › creates a child span for each request, and links the commit span to it', async () => {
    await runSuccessfully(process.execPath, evalArgs(tracedProgram), { cwd: examples });
  });

  it('TypeScript › accepts every example', async () => {
    const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
    await runSuccessfully(process.execPath, [tsc, '-p', examples], { cwd: examples });
  });
});

/** The Node.js arguments that run a test file of `apps` with Vitest and Jest. */
const runners = [
  [join(apps, 'node_modules/vitest/vitest.mjs'), 'run', '--globals', '--root'],
  ['--experimental-vm-modules', join(apps, 'node_modules/jest/bin/jest.js'), '--transform', '{}', '--rootDir'],
];

it('fake timers of Vitest and Jest › do not delay a service', { skip: addPlantStore(apps) }, async () => {
  for (const args of runners) {
    // The runners fail a test after five seconds by default.
    const rest = [join(apps, 'apps'), '--testTimeout=60000', 'fake-timers.test.js'];
    const env = { ...plainEnvironment(), NO_COLOR: '1' };
    await runSuccessfully(process.execPath, [...args, ...rest], { cwd: apps, env, timeoutMs: 300_000 });
  }
});
