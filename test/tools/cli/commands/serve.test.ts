import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueToken, revokeToken } from '../../../../src/tokens/issue.ts';
import { callService } from '../../../support/call.ts';
import { runCommand, spawnCommand, startServer } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { occupyPort } from '../../../support/listen.ts';
import { freePort } from '../../../support/postgres.ts';
import { untilListening } from '../../../support/server-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

async function statusOf(url: string, token: string): Promise<number> {
  return (await callService(url, 'GET', '/plants', { token })).status;
}

describe('plant-store serve', { concurrency: 4 }, () => {
  it('fails with one sentence if the tokens file is invalid, and changes nothing', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'tokens.json'), '{"tokens":["pst_secret"]}');
    const finished = await runCommand(['serve', '--port', '0'], { cwd });
    const stderr = 'plant-store: tokens.json cannot be used: it is not {"version":1,"tokens":[…]}.\n';
    assert.deepEqual(finished, { code: 1, stdout: '', stderr });
    assert.deepEqual(await readdir(cwd), ['tokens.json']);
  });

  it('fails with one sentence if the address does not belong to this machine', async (t) => {
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

  it('reads its settings from the environment', async (t) => {
    const cwd = await temporaryFolder(t);
    const port = await occupyPort(t);
    const args = ['serve'];
    const inUse = await runCommand(args, { cwd, env: { PORT: String(port), HOST: 'localhost' } });
    assert.match(inUse.stderr, new RegExp(`EADDRINUSE.*:${port}\\)\n$`));
    const noPort = await runCommand(args, { cwd, env: { PORT: 'http' } });
    assert.equal(noPort.code, 2);
    const storage = join(cwd, 'deep', 'garden.db');
    const tokens = join(cwd, 'etc', 'people.json');
    await mkdir(join(cwd, 'etc'));
    const env = { HOST: 'localhost', PLANT_STORE_STORAGE: `sqlite:${storage}`, PLANT_STORE_TOKENS: tokens };
    const server = await startServer(t, [], { cwd, env });
    assert.match(server.url, /^http:\/\/localhost:\d+$/);
    assert.ok(existsSync(storage));
    await eventually(() => {
      assert.ok(existsSync(tokens));
    });
  });

  it('prefers PLANT_STORE_HOST and PLANT_STORE_PORT to HOST and PORT', async (t) => {
    const cwd = await temporaryFolder(t);
    const port = await freePort();
    const env = { PLANT_STORE_HOST: 'localhost', PLANT_STORE_PORT: String(port), HOST: '192.0.2.1', PORT: 'http' };
    const child = spawnCommand(['serve', '--storage', 'memory'], { cwd, env });
    const { url } = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    assert.equal(url, `http://localhost:${port}`);
    const args = ['--storage', 'memory', '--host', '127.0.0.1'];
    assert.match((await startServer(t, args, { cwd, env })).url, /^http:\/\/127\.0\.0\.1:/);
    const wrong = await runCommand(['serve'], { cwd, env: { PLANT_STORE_PORT: 'http', PORT: '0' } });
    const sentence = "plant-store: PLANT_STORE_PORT must be 0 to 65535, not 'http'.\n";
    assert.deepEqual(wrong, { code: 2, stdout: '', stderr: sentence });
  });

  it('ignores the variables that Kubernetes sets for a service named plant-store', async (t) => {
    const address = 'tcp://10.0.0.7:80';
    const env = {
      PLANT_STORE_SERVICE_HOST: '10.0.0.7',
      PLANT_STORE_SERVICE_PORT: '80',
      PLANT_STORE_SERVICE_PORT_HTTP: '80',
      PLANT_STORE_PORT: address,
      PLANT_STORE_PORT_80_TCP: address,
      PLANT_STORE_PORT_80_TCP_PROTO: 'tcp',
      PLANT_STORE_PORT_80_TCP_PORT: '80',
      PLANT_STORE_PORT_80_TCP_ADDR: '10.0.0.7',
      PLANT_STORE_ADMIN_PORT: address,
      PORT: '0',
    };
    const child = spawnCommand(['serve', '--storage', 'memory', '--log', 'off'], {
      cwd: await temporaryFolder(t),
      env,
    });
    const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    assert.equal(await server.stop(), 0);
    assert.equal(server.stderr(), '');
    assert.doesNotMatch(server.stdout(), /Health and metrics/);
  });

  it('prefers flags to the environment', async (t) => {
    const cwd = await temporaryFolder(t);
    await mkdir(join(cwd, 'by-flag'));
    const env = { HOST: '192.0.2.1', PORT: 'http', PLANT_STORE_STORAGE: 'none', PLANT_STORE_TOKENS: 'none.json' };
    const args = ['--host', '127.0.0.1', '--storage', 'sqlite:by-flag/a.db', '--tokens', 'by-flag/a.json'];
    const server = await startServer(t, args, { cwd, env });
    assert.equal(await server.stop(), 0);
    assert.deepEqual(await readdir(cwd), ['by-flag']);
    const files = ['a.db', 'a.json', 'a.json.lock', 'first-token.txt'];
    assert.deepEqual((await readdir(join(cwd, 'by-flag'))).sort(), files);
  });

  it('uses the base path as the server URL, and rejects an invalid one', async (t) => {
    const cwd = await temporaryFolder(t);
    for (const [args, env] of [
      [['--base-path', '/garden'], {}],
      [[], { PLANT_STORE_BASE_PATH: '/garden' }],
    ] as const) {
      const server = await startServer(t, ['--storage', 'memory', ...args], { cwd, env });
      const { servers } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { servers: unknown };
      assert.deepEqual(servers, [{ url: '/garden' }]);
      assert.equal(await server.stop(), 0);
    }
    const refused = await runCommand(['serve', '--base-path', '/garden/'], { cwd });
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^plant-store: --base-path must be a path .* such as \/garden\.\n$/);
  });

  it('reads the origins of CORS from --cors-origin or PLANT_STORE_CORS_ORIGIN, and rejects invalid ones', async (t) => {
    const cwd = await temporaryFolder(t);
    const origins = 'https://app.example.com, http://localhost:5173';
    for (const [args, env] of [
      [['--cors-origin', origins], {}],
      [[], { PLANT_STORE_CORS_ORIGIN: origins }],
    ] as const) {
      const server = await startServer(t, ['--storage', 'memory', ...args], { cwd, env });
      for (const origin of origins.split(', ')) {
        const { headers } = await fetch(`${server.url}/plants`, { headers: { origin } });
        assert.equal(headers.get('access-control-allow-origin'), origin);
      }
      assert.equal(await server.stop(), 0);
    }
    const refused = await runCommand(['serve', '--cors-origin', 'app.example.com'], { cwd });
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^plant-store: --cors-origin must be '\*' or origins such as https:\/\/app.*\.\n$/);
  });

  it('reads the format of the log from PLANT_STORE_LOG, unless --log sets it', async (t) => {
    const cwd = await temporaryFolder(t);
    const stderrOf = async (format: string, ...args: string[]): Promise<string> => {
      const server = await startServer(t, ['--storage', 'memory', ...args], { cwd, env: { PLANT_STORE_LOG: format } });
      assert.equal(await server.stop(), 0);
      return server.stderr();
    };
    assert.match(await stderrOf('pretty'), /^[\d:]{8} SIGTERM: stopping\n$/);
    assert.equal(await stderrOf('off'), '');
    assert.equal(await stderrOf('pretty', '--log', 'off'), '');
    assert.match(await stderrOf(''), /^\{"time":/);
    const wrong = await runCommand(['serve'], { cwd, env: { PLANT_STORE_LOG: 'xml' } });
    const sentence = "plant-store: PLANT_STORE_LOG must be json, pretty or off, not 'xml'.\n";
    assert.deepEqual(wrong, { code: 2, stdout: '', stderr: sentence });
  });

  it('reads the number of trusted proxies from PLANT_STORE_TRUSTED_PROXIES, unless --trusted-proxies sets it', async (t) => {
    const cwd = await temporaryFolder(t);
    const clientOf = async (env: Record<string, string>, ...args: string[]): Promise<unknown> => {
      const server = await startServer(t, ['--storage', 'memory', '--log', 'json', ...args], { cwd, env });
      await fetch(`${server.url}/openapi.json`, { headers: { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' } });
      assert.equal(await server.stop(), 0);
      const [line = '{}'] = server.stderr().split('\n');
      return (JSON.parse(line) as { client: unknown }).client;
    };
    assert.equal(await clientOf({}), '127.0.0.1');
    assert.equal(await clientOf({ PLANT_STORE_TRUSTED_PROXIES: '2' }), '192.0.2.1');
    assert.equal(await clientOf({ PLANT_STORE_TRUSTED_PROXIES: '2' }, '--trusted-proxies', '1'), '192.0.2.2');
    const { code, stderr } = await runCommand(['serve', '--trusted-proxies', '-1'], { cwd });
    assert.deepEqual([code, stderr.includes('--trusted-proxies')], [2, true]);
  });

  it('treats an empty variable like an unset one', async (t) => {
    const cwd = await temporaryFolder(t);
    const env = { HOST: '', PLANT_STORE_STORAGE: '', PLANT_STORE_TOKENS: '' };
    const server = await startServer(t, [], { cwd, env });
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal(await server.stop(), 0);
    assert.deepEqual((await readdir(cwd)).sort(), ['first-token.txt', 'plants.db', 'tokens.json', 'tokens.json.lock']);
    // If the default port is in use, the error message names it.
    const child = spawnCommand(['serve', '--storage', 'memory'], { cwd, env: { PORT: '' } });
    const announcement = /^Plant Store listening on (\S+)\n/m;
    const onDefault = await untilListening(t, child, announcement).then(({ url }) => url, String);
    assert.match(onDefault, /127\.0\.0\.1:3000\b/);
  });

  it('notices tokens that are created, revoked, expired and removed within a second', async (t) => {
    const cwd = await temporaryFolder(t);
    const path = join(cwd, 'tokens.json');
    const { token } = issueToken(path, { user: 'ada' });
    const server = await startServer(t, ['--storage', 'memory', '--log', 'json'], { cwd });
    const becomes = (of: string, status: number): Promise<void> =>
      eventually(async () => {
        assert.equal(await statusOf(server.url, of), status);
      }, 1000);
    await becomes(token, 200);

    const expiresAt = new Date(Date.now() + 3000).toISOString();
    const later = issueToken(path, { user: 'bob', expiresAt });
    await becomes(later.token, 200);
    const { record, token: revoked } = issueToken(path, { user: 'eve' });
    await becomes(revoked, 200);
    revokeToken(path, record.id);
    await becomes(revoked, 401);
    await eventually(async () => {
      assert.equal(await statusOf(server.url, later.token), 401);
    });
    assert.ok(new Date().toISOString() >= expiresAt);

    await rename(path, `${path}.away`);
    await becomes(token, 401);
    await rename(`${path}.away`, path);
    await becomes(token, 200);
    await eventually(() => {
      assert.match(server.stderr(), /tokens\.json was removed: no token is accepted\./);
    });
  });
});
