import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { startServer } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns whether nginx is installed. `nginx --version` fails, so `hasProgram` cannot be used. */
function hasNginx(t: TestContext): boolean {
  if (['nginx', 'openssl'].every((name) => spawnSync(name, ['-v']).error === undefined)) return true;
  t.skip('nginx or openssl is not installed');
  return false;
}

async function freePort(t: TestContext): Promise<number> {
  const free = createServer();
  const port = await listen(t, free);
  free.close();
  return port;
}

interface Ports {
  readonly http: number;
  readonly https: number;
}

/** Starts nginx with the configuration in deploy/, but with free ports and a new certificate. */
async function startNginx(t: TestContext, cwd: string, upstream: number, prefix: string): Promise<Ports> {
  const ports = { http: await freePort(t), https: await freePort(t) };
  const days = ['-days', '1', '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'certificate.pem'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...days], { cwd, stdio: 'ignore' });
  const site = (await readFile(join(root, 'deploy/nginx/plant-store.conf'), 'utf8'))
    .replace('127.0.0.1:3000', `127.0.0.1:${upstream}`)
    .replace('listen 80', `listen 127.0.0.1:${ports.http}`)
    .replace('listen 443', `listen 127.0.0.1:${ports.https}`)
    .replaceAll(/ *listen \[::\]:.*\n/g, '')
    .replaceAll('/var/log/nginx/plant-store.log', join(cwd, 'access.log'))
    .replace('/etc/ssl/plant-store.crt', join(cwd, 'certificate.pem'))
    .replace('/etc/ssl/plant-store.key', join(cwd, 'key.pem'))
    .replace('location / {', `location ${prefix}/ {`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${cwd}/${name};`);
  const http = `http { access_log off; ${paths.join(' ')}\n${site}}`;
  // Workers of root change their user, who may not write to the temporary folder.
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const main = `${user} daemon off; pid ${cwd}/nginx.pid; error_log ${cwd}/error.log; events {}\n${http}\n`;
  await writeFile(join(cwd, 'nginx.conf'), main);
  const args = ['-p', cwd, '-c', join(cwd, 'nginx.conf')];
  const checked = spawnSync('nginx', ['-t', ...args], { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stderr);
  assert.doesNotMatch(checked.stderr, /\[warn\]/);
  const nginx = spawn('nginx', args, { stdio: 'ignore' });
  const exited = once(nginx, 'exit');
  t.after(async () => {
    nginx.kill('SIGTERM');
    await exited;
  });
  return ports;
}

/** Sends a request over TLS and HTTP/2. */
async function call(port: number, headers: Record<string, string>, body?: string): Promise<[unknown, string]> {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  try {
    await once(session, 'connect');
    const stream = session.request(headers);
    stream.end(body);
    const [answered] = (await once(stream, 'response')) as [Record<string, unknown>];
    return [answered[':status'], await text(stream)];
  } finally {
    session.close();
  }
}

describe('deploy/nginx', () => {
  for (const prefix of ['', '/garden']) {
    it(`serves the service over HTTP/2 and TLS ${prefix === '' ? 'at the root' : `under ${prefix}`}`, async (t) => {
      if (!hasNginx(t)) return;
      const cwd = await temporaryFolder(t);
      const { token } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
      const base = prefix === '' ? [] : ['--base-path', prefix];
      const args = ['--storage', 'memory', '--log', 'json', '--trusted-proxies', '1', ...base];
      const server = await startServer(t, args, { cwd });
      const ports = await startNginx(t, cwd, server.port, prefix);
      const port = ports.https;
      const authorization = `Bearer ${token}`;
      const get = { ':path': `${prefix}/plants?limit=1`, authorization, 'x-forwarded-for': '192.0.2.1' };
      const post = {
        ':path': `${prefix}/plants`,
        ':method': 'POST',
        authorization,
        'content-type': 'application/json',
      };
      await eventually(async () => {
        assert.deepEqual(await call(port, get), [200, '[]']);
      });
      const plant = JSON.stringify({ id: 1, name: 'Fern' });
      assert.deepEqual(await call(port, post, plant), [200, '{"name":"Fern"}']);
      assert.deepEqual(await call(port, get), [200, '[{"name":"Fern"}]']);
      const [status, error] = await call(port, post, JSON.stringify({ id: 2, name: 'x'.repeat(70_000) }));
      assert.equal(status, 400, error);
      assert.equal((JSON.parse(error) as { error: number }).error, 40008);

      const redirect = await fetch(`http://127.0.0.1:${ports.http}${prefix}/plants?limit=1`, { redirect: 'manual' });
      assert.equal(redirect.status, 308);
      assert.equal(redirect.headers.get('location'), `https://plants.example.com${prefix}/plants?limit=1`);
      assert.equal(await server.stop(), 0);

      const log = await eventually(async () => {
        const written = await readFile(join(cwd, 'access.log'), 'utf8');
        assert.match(written, / GET 308 /);
        return written;
      });
      assert.ok(!log.includes('plants') && !log.includes('limit'), log);
      const [, id = ''] = /^127\.0\.0\.1 \[.*\] POST 200 .* 200 (\S+)$/m.exec(log) ?? [];
      assert.ok(id !== '' && server.stderr().includes(`"requestId":"${id}"`), log);
      // nginx replaces the address that the client sent.
      assert.match(server.stderr(), /"client":"127\.0\.0\.1"/);
      assert.ok(!server.stderr().includes('192.0.2.1'));
    });
  }
});
