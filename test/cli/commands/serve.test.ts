import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { runCommand, spawnCommand, startServer } from '../../support/command-line.ts';
import { freePort, occupyPort } from '../../support/listen.ts';
import { untilListening } from '../../support/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('plant-store serve', { concurrency: 4 }, () => {
  it('hides its arguments from other users of the machine', async (t) => {
    const { pid } = await startServer(t, ['--storage', 'sqlite:secret.db'], { cwd: await temporaryFolder(t) });
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', `${pid}`], { encoding: 'utf8' });
    assert.equal(stdout.trim(), 'plant-store serve');
  });

  it('reads its settings from the environment', async (t) => {
    const cwd = await temporaryFolder(t);
    const [storage, tokens] = [join(cwd, 'etc', 'garden.db'), join(cwd, 'etc', 'people.json')];
    await mkdir(join(cwd, 'etc'));
    const port = await freePort();
    const env = {
      PLANT_STORE_HOST: 'localhost',
      PLANT_STORE_PORT: String(port),
      PLANT_STORE_STORAGE: `sqlite:${storage}`,
      PLANT_STORE_TOKENS: tokens,
      PLANT_STORE_LOG: 'pretty',
      PLANT_STORE_BASE_PATH: '/garden',
      PLANT_STORE_CORS_ORIGIN: 'https://app.example.com, http://localhost:5173',
      // Plant Store's own variables take precedence over these variables.
      PORT: 'http',
      DATABASE_URL: 'none',
    };
    const child = spawnCommand(['serve'], { cwd, env });
    const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    assert.equal(server.url, `http://localhost:${port}`);
    for (const file of [storage, tokens]) assert.ok(existsSync(file), file);
    const { servers } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { servers: unknown };
    assert.deepEqual(servers, [{ url: '/garden' }]);
    for (const origin of ['https://app.example.com', 'http://localhost:5173']) {
      const { headers } = await fetch(`${server.url}/plants`, { headers: { origin } });
      assert.equal(headers.get('access-control-allow-origin'), origin);
    }
    assert.equal(await server.stop(), 0);
    assert.match(server.stderr(), /^[\d:]{8} GET \/openapi\.json 200 .*^[\d:]{8} stopped\n$/ms);
  });

  it('fails and creates no files if it cannot listen or the tokens file is invalid', async (t) => {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'bad.json'), '{"tokens":["pst_secret"]}');
    const port = await occupyPort(t);
    for (const [args, keyword] of [
      // An open admin port does not keep the process running.
      [`--port ${port} --admin-port 0`, `in use 127.0.0.1:${port}. Change --port or --host.`],
      [`--port 0 --admin-port ${port}`, `in use 127.0.0.1:${port}. Change --admin-port or --admin-host.`],
      ['--port 0 --host 192.0.2.1', '192.0.2.1'],
      ['--port 0 --host nowhere.invalid', 'nowhere.invalid'],
      ['--port 0 --tokens bad.json', 'bad.json cannot be used'],
    ] as const) {
      const { code, stderr } = await callCommand(['serve', ...args.split(' ')], { cwd });
      assert.deepEqual([code, stderr.split('\n').length], [1, 2], stderr);
      assert.ok(stderr.includes(keyword) && !stderr.includes('pst_'), stderr);
    }
    assert.deepEqual(await readdir(cwd), ['bad.json']);
  });

  for (const [name, mode] of [
    ['plants.db', 0o400],
    ['plants.db-shm', 0o400],
    ['.', 0o500],
  ] as const) {
    it(`names the file, the user and the remedy if it may not write ${name}`, async (t) => {
      const cwd = await temporaryFolder(t);
      await writeFile(join(cwd, 'plants.db-shm'), '');
      new DatabaseSync(join(cwd, 'plants.db')).close();
      if (process.getuid?.() === 0) {
        // In a folder of another account, root becomes that account.
        for (const path of ['.', 'plants.db', 'plants.db-shm']) await chown(join(cwd, path), 65_534, 65_534);
      }
      await chmod(join(cwd, name), mode);

      const { code, stderr } = await runCommand(['serve', '--port', '0'], { cwd });

      assert.equal(code, 1);
      assert.match(stderr, /^plant-store: The user \w+ may not write .*: .*chown.*chmod\.$/m);
      assert.ok(stderr.includes(join(cwd, name)), stderr);
    });
  }
});
