import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { readTokenFile } from '../../src/http/token-file.ts';
import { issueToken, revokeToken } from '../../src/http/token-issue.ts';
import { runCommand, startServer } from '../helpers/command-line.ts';
import type { RunningServer } from '../helpers/command-line.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import type { HasAfter } from '../helpers/temporary-folder.ts';

function curlLine(server: RunningServer): string {
  const line = /^ +(curl .*)$/m.exec(server.stdout())?.[1];
  assert.ok(line, server.stdout());
  return line;
}

/** Pastes a line into a shell; its standard output. */
function paste(t: TestContext, line: string): string {
  // Not the whole environment: a proxy in it would not reach this machine's own addresses.
  const env = { PATH: process.env['PATH'] };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8', env });
  if (status === 127) t.diagnostic('NOT CHECKED that the printed line works: this machine has no curl');
  else assert.equal(status, 0, stderr);
  return status === 127 ? '[]' : stdout;
}

async function getPlants(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${token}` } });
  await response.text();
  return response.status;
}

/** A port that something else listens on. */
async function occupyPort(t: HasAfter, host = '127.0.0.1'): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => { server.close(); });
  return (server.address() as AddressInfo).port;
}

describe('the first start of plant-store serve', { concurrency: 4 }, () => {
  it('makes a token for me and prints it once, with a curl line that works when it is pasted', async (t) => {
    const cwd = await temporaryFolder(t);
    const first = await startServer(t, [], { cwd });
    assert.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const line = await eventually(() => curlLine(first));
    const [token = ''] = /pst_[0-9A-Za-z]{36}/.exec(line) ?? [];
    assert.equal(paste(t, `${line} --silent`), '[]');
    assert.equal(first.stdout().split(token).length - 1, 2, 'once to keep and once in the line');
    assert.deepEqual((readTokenFile(join(cwd, 'tokens.json'))).map(({ user }) => user), ['me']);
    assert.equal((await stat(join(cwd, 'tokens.json'))).mode & 0o777, 0o600);
    assert.equal((await stat(join(cwd, 'plants.db'))).mode & 0o777, 0o600);
    assert.equal(await first.stop(), 0);
    assert.ok(!first.stderr().includes(token));
    assert.equal(await readFile(join(cwd, 'tokens.json'), 'utf8').then((text) => text.includes(token)), false);

    const second = await startServer(t, [], { cwd });
    assert.equal(await getPlants(second.url, token), 200);
    assert.equal(await second.stop(), 0);
    assert.equal(second.stdout(), `Plant Store listening on ${second.url}\n`);
  });

  it('prints a line for this machine where it listens on all addresses', async (t) => {
    const cwd = await temporaryFolder(t);
    const server = await startServer(t, ['--host', '0.0.0.0', '--storage', 'memory'], { cwd });
    assert.match(server.url, /^http:\/\/0\.0\.0\.0:\d+$/);
    const line = await eventually(() => curlLine(server));
    assert.match(line, /http:\/\/localhost:\d+\/plants/);
    assert.equal(paste(t, `${line} --silent`), '[]');
    assert.equal(await server.stop(), 0);
  });

  it('writes an IPv6 address in brackets', async (t) => {
    const cwd = await temporaryFolder(t);
    const isThere = await occupyPort(t, '::1').catch(() => undefined);
    if (isThere === undefined) {
      t.diagnostic('NOT CHECKED: this machine has no IPv6');
      return;
    }
    const server = await startServer(t, ['--host', '::1', '--storage', 'memory'], { cwd });
    assert.match(server.url, /^http:\/\/\[::1\]:\d+$/);
    assert.equal(paste(t, `${await eventually(() => curlLine(server))} --silent`), '[]');
  });

  it('leaves no token behind that nobody saw where the port is in use', async (t) => {
    const cwd = await temporaryFolder(t);
    const port = await occupyPort(t);
    const { code, stdout, stderr } = await runCommand(['serve', '--port', String(port)], { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, new RegExp(`^plant-store: .*EADDRINUSE.*127\\.0\\.0\\.1:${port}\\)\n$`));
    assert.ok(!existsSync(join(cwd, 'tokens.json')));
  });

  it('ends with one sentence where the tokens file cannot be made', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'file'), '');
    const args = ['serve', '--port', '0', '--storage', 'memory', '--tokens', 'file/tokens.json'];
    const { code, stdout, stderr } = await runCommand(args, { cwd });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^plant-store: .*file.*\n$/);
  });
});

describe('plant-store serve', { concurrency: 4 }, () => {
  it('fails in one sentence where the tokens file is invalid, and touches nothing', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'tokens.json'), '{"tokens":["pst_secret"]}');
    const finished = await runCommand(['serve', '--port', '0'], { cwd });
    const stderr = 'plant-store: tokens.json cannot be used: it is not {"version":1,"tokens":[…]}.\n';
    assert.deepEqual(finished, { code: 1, stdout: '', stderr });
    assert.deepEqual(await readdir(cwd), ['tokens.json']);
  });

  it('fails in one sentence where the address is none of this machine', async (t) => {
    const args = ['serve', '--port', '0', '--host', '192.0.2.1', '--storage', 'memory'];
    const { code, stdout, stderr } = await runCommand(args, { cwd: await temporaryFolder(t) });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^plant-store: .*192\.0\.2\.1.*\n$/);
  });

  it('hides its arguments from the other users of the machine', async (t) => {
    const cwd = await temporaryFolder(t);
    const { pid } = await startServer(t, ['--storage', 'sqlite:secret.db'], { cwd });
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', `${pid}`], { encoding: 'utf8' });
    assert.equal(stdout.trim(), 'plant-store serve');
  });

  it('takes its settings from the environment', async (t) => {
    const cwd = await temporaryFolder(t);
    const port = await occupyPort(t);
    const args = ['serve'];
    const inUse = await runCommand(args, { cwd, env: { PORT: String(port), HOST: 'localhost' } });
    assert.match(inUse.stderr, new RegExp(`EADDRINUSE.*:${port}\\)\n$`));
    const noPort = await runCommand(args, { cwd, env: { PORT: 'http' } });
    assert.equal(noPort.code, 2);
    const storage = join(cwd, 'deep', 'garden.db');
    const tokens = join(cwd, 'etc', 'people.json');
    const env = { HOST: 'localhost', PLANT_STORE_STORAGE: `sqlite:${storage}`, PLANT_STORE_TOKENS: tokens };
    const server = await startServer(t, [], { cwd, env });
    assert.match(server.url, /^http:\/\/localhost:\d+$/);
    assert.ok(existsSync(storage));
    await eventually(() => { assert.ok(existsSync(tokens)); });
  });

  it('puts flags before the environment', async (t) => {
    const cwd = await temporaryFolder(t);
    await mkdir(join(cwd, 'by-flag'));
    const env = { HOST: '192.0.2.1', PORT: 'http', PLANT_STORE_STORAGE: 'none', PLANT_STORE_TOKENS: 'none.json' };
    const args = ['--host', '127.0.0.1', '--storage', 'sqlite:by-flag/a.db', '--tokens', 'by-flag/a.json'];
    const server = await startServer(t, args, { cwd, env });
    assert.equal(await server.stop(), 0);
    assert.deepEqual(await readdir(cwd), ['by-flag']);
    assert.deepEqual((await readdir(join(cwd, 'by-flag'))).sort(), ['a.db', 'a.json', 'a.json.lock']);
  });

  it('puts the base path in front of what it names, and refuses what is not one', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const [args, env] of [[['--base-path', '/garden'], {}], [[], { PLANT_STORE_BASE_PATH: '/garden' }]] as const) {
      const server = await startServer(t, ['--storage', 'memory', ...args], { cwd, env });
      const { servers } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { servers: unknown };
      assert.deepEqual(servers, [{ url: '/garden' }]);
      assert.equal(await server.stop(), 0);
    }
    const refused = await runCommand(['serve', '--base-path', '/garden/'], { cwd });
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^plant-store: --base-path must be a path .* such as \/garden\.\n$/);
  });

  it('takes an empty variable for an unset one', async (t) => {
    const cwd = await temporaryFolder(t);
    const env = { HOST: '', PLANT_STORE_STORAGE: '', PLANT_STORE_TOKENS: '' };
    const server = await startServer(t, [], { cwd, env });
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal(await server.stop(), 0);
    assert.deepEqual((await readdir(cwd)).sort(), ['plants.db', 'tokens.json', 'tokens.json.lock']);
    // The default port may be taken, which names it just as well.
    const onDefault = await runCommand(['serve', '--storage', 'memory'], { cwd, env: { PORT: '' } }, 3000);
    assert.match(onDefault.stdout + onDefault.stderr, /127\.0\.0\.1:3000\)?\n/);
  });

  it('notices within a second, without a restart, tokens that are made, revoked, expired and removed', async (t) => {
    const cwd = await temporaryFolder(t);
    const path = join(cwd, 'tokens.json');
    const { token } = issueToken(path, { user: 'ada' });
    const server = await startServer(t, ['--storage', 'memory', '--log', 'json'], { cwd });
    const becomes = (of: string, status: number): Promise<void> =>
      eventually(async () => { assert.equal(await getPlants(server.url, of), status); }, 1000);
    await becomes(token, 200);

    const expiresAt = new Date(Date.now() + 3000).toISOString();
    const later = issueToken(path, { user: 'bob', expiresAt });
    await becomes(later.token, 200);
    const { record, token: revoked } = issueToken(path, { user: 'eve' });
    await becomes(revoked, 200);
    revokeToken(path, record.id);
    await becomes(revoked, 401);
    await eventually(async () => { assert.equal(await getPlants(server.url, later.token), 401); });
    assert.ok(new Date().toISOString() >= expiresAt);

    await rename(path, `${path}.away`);
    await becomes(token, 401);
    await rename(`${path}.away`, path);
    await becomes(token, 200);
    await eventually(() => { assert.match(server.stderr(), /tokens\.json was removed: no token is accepted\./); });
  });
});
