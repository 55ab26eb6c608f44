import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Scope } from '../../src/http.ts';
import { errorTable } from '../../src/core/model/errors.ts';
import type { ErrorCode } from '../../src/core/model/errors.ts';
import { issueToken } from '../../src/tokens/issue.ts';
import { startServer } from '../support/command-line.ts';
import { assertConforms } from '../support/conformance.ts';
import { readDocument } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { untilListening } from '../support/server-process.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Starts nginx with the configuration in deploy/, but with free ports, a new certificate and the prefix `/garden`. */
async function startNginx(t: TestContext, cwd: string, upstream: number) {
  const ports = { http: await freePort(), https: await freePort() };
  const [certificate, key] = [join(cwd, 'certificate.pem'), join(cwd, 'key.pem')];
  const certificateOf = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const request = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, ...certificateOf];
  execFileSync('openssl', ['req', ...request], { stdio: 'ignore' });
  const site = (await readDocument('deploy/nginx/plant-store.conf'))
    .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`)
    .replace('listen 80', `listen 127.0.0.1:${ports.http}`)
    .replace('listen 443', `listen 127.0.0.1:${ports.https}`)
    .replaceAll(/ *listen \[::\]:.*\n/g, '')
    .replaceAll('/var/log/nginx/plant-store.log', join(cwd, 'access.log'))
    .replace('/etc/ssl/plant-store.crt', certificate)
    .replace('/etc/ssl/plant-store.key', key)
    .replace('location / {', 'location /garden/ {');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${cwd}/${name};`);
  const http = `http { access_log off; ${paths.join(' ')}\n${site}}`;
  // Without a master process, nginx is one process of this user.
  const main = `daemon off; master_process off; pid ${cwd}/nginx.pid; error_log stderr notice; events {}\n${http}\n`;
  await writeFile(join(cwd, 'nginx.conf'), main);
  const nginx = spawn('nginx', ['-p', cwd, '-c', join(cwd, 'nginx.conf')]);
  const { stderr } = await untilListening(t, nginx, /nginx\/(\d+)/);
  assert.doesNotMatch(stderr(), /\[warn\]/);
  return ports;
}

/** Sends a request over TLS and HTTP/2. Returns the status and the body. */
async function call(port: number, headers: Record<string, string>, body?: string) {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  try {
    await once(session, 'connect');
    const stream = session.request(headers).end(body);
    const [answered] = (await once(stream, 'response')) as [Record<string, unknown>];
    return [answered[':status'], await text(stream)];
  } finally {
    session.close();
  }
}

/** Requests that nginx rejects as the server would. */
const rejections: readonly { headers: Record<string, string>; body?: string; code: ErrorCode }[] = [
  { headers: { ':path': '/garden/plants/%zz', ':method': 'DELETE' }, code: 'malformed_request' },
  { headers: { ':path': '/garden/plants', ':method': 'POST' }, body: 'x'.repeat(200_000), code: 'body_too_large' },
  { headers: { ':path': `/garden/plants?x=${'x'.repeat(17_000)}` }, code: 'header_too_large' },
  // nginx forwards a header of 15 KiB, and the server rejects the invalid token.
  { headers: { ':path': '/garden/plants', authorization: `Bearer ${'x'.repeat(15_360)}` }, code: 'invalid_token' },
];

it('deploy/nginx › passes the conformance checks under a prefix, and logs no secrets', async (t) => {
  if (!hasProgram(t, 'nginx') || !hasProgram(t, 'openssl')) return;
  const cwd = await temporaryFolder(t);
  const issue = async (user: string, scopes?: Scope[]): Promise<string> =>
    (await issueToken(join(cwd, 'tokens.json'), { user, scopes })).token;
  const tokens = { a: await issue('ada'), b: await issue('adam'), readOnly: await issue('ada', ['plants:read']) };
  const flags = ['--storage', 'memory', '--trusted-proxies', '1', '--base-path', '/garden'];
  const server = await startServer(t, flags, { cwd });
  const ports = await startNginx(t, cwd, server.port);
  await eventually(() => call(ports.https, { ':path': '/garden/openapi.json' }));
  const env = { NODE_EXTRA_CA_CERTS: join(cwd, 'certificate.pem') };
  await assertConforms(`https://127.0.0.1:${ports.https}/garden`, tokens, { env });

  const target = '/garden/plants?limit=0';
  const headers = { ':path': target, authorization: `Bearer ${tokens.a}`, 'x-forwarded-for': '192.0.2.1' };
  assert.deepEqual(await call(ports.https, headers), [200, '[]']);
  const redirect = await fetch(`http://127.0.0.1:${ports.http}${target}`, { redirect: 'manual' });
  assert.equal(redirect.status, 308);
  assert.equal(redirect.headers.get('location'), `https://plants.example.com${target}`);

  for (const { headers, body, code } of rejections) {
    const { status, integer: error, message } = errorTable[code];
    assert.deepEqual(await call(ports.https, headers, body), [status, JSON.stringify({ error, message })]);
  }
  assert.equal(await server.stop(), 0);
  const { integer: error } = errorTable.storage_unavailable;
  const message = 'The server does not respond. Try again shortly.';
  assert.deepEqual(await call(ports.https, { ':path': target }), [503, JSON.stringify({ error, message })]);

  const log = await eventually(async () => {
    const written = await readFile(join(cwd, 'access.log'), 'utf8');
    assert.match(written, / GET 308 /);
    return written;
  });
  assert.ok(!log.includes('plants') && !log.includes('limit'), log);
  const [, id = ''] = /^127\.0\.0\.1 \[.*\] GET 200 .* 200 (\S+)$/m.exec(log) ?? [];
  assert.ok(id !== '' && server.stderr().includes(`"requestId":"${id}"`), log);
  // nginx replaces the X-Forwarded-For header that the client sent.
  assert.match(server.stderr(), /"client":"127\.0\.0\.1"/);
  assert.ok(!server.stderr().includes('192.0.2.1'));
});
