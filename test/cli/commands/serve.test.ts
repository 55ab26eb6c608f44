import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { listen, reachableUrl } from '../../../src/cli/commands/serve.ts';
import { readTokenFile } from '../../../src/tokens/token-file.ts';
import { assertFails } from '../../support/call-command.ts';
import { runCommand, spawnCommand, startServer } from '../../support/command-line.ts';
import { listenUrl } from '../../support/listen.ts';
import { commandEnvironment, evalArgs, runProgram } from '../../support/run-program.ts';
import { untilListening } from '../../support/server-process.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { sourceUrl } from '../../support/sources.ts';
import { execute } from '../../support/sqlite-file.ts';
import { owner, temporaryFolder } from '../../support/temporary-folder.ts';
import { folderWithToken } from '../../support/token-server.ts';

it('plant-store serve › reads environment variables, and accepts its first token after a restart', async (t) => {
  const cwd = join(await temporaryFolder(t), "it's $HOME");
  await mkdir(cwd);
  const env = {
    PLANT_STORE_HOST: '0.0.0.0',
    PLANT_STORE_PORT: '0',
    PLANT_STORE_STORAGE: 'none',
    PLANT_STORE_TOKENS: 'people.json',
    PLANT_STORE_LOG: 'pretty',
    PLANT_STORE_BASE_PATH: '/garden',
    PLANT_STORE_CORS_ORIGIN: 'https://app.example.com, http://localhost:5173',
    PLANT_STORE_DOCS: '1',
    // Plant Store's own variable takes precedence over this variable.
    PORT: 'http',
  };
  const start = (): Promise<ServerProcess> => {
    const child = spawnCommand(['serve', '--storage', 'sqlite:garden.db'], { cwd, env });
    return untilListening(t, child, /^Plant Store listening on (http:\/\/0\.0\.0\.0:\d+)\n/m);
  };
  const first = await start();
  if (existsSync('/proc/self/cmdline')) {
    const shown = await readFile(`/proc/${first.pid}/cmdline`, 'utf8');
    assert.equal(shown.replaceAll('\0', ''), 'plant-store serve', 'without the arguments');
  }
  const { servers } = (await (await fetch(`${first.url}/openapi.json`)).json()) as { servers: unknown };
  assert.deepEqual(servers, [{ url: '/garden' }]);
  const origin = 'http://localhost:5173';
  const { headers } = await fetch(`${first.url}/plants`, { headers: { origin } });
  assert.equal(headers.get('access-control-allow-origin'), origin);
  const line = await first.printed(/^ +(curl .*)\n/m);
  assert.match(line, / http:\/\/localhost:\d+\/plants$/);
  // Passes only PATH, because a proxy in the environment could not reach the addresses of this machine.
  const { PATH } = process.env;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${line} --silent`], { encoding: 'utf8', env: { PATH } });
  if (status === 127) t.diagnostic('NOT CHECKED that the printed line works: this machine has no curl');
  else assert.deepEqual([status, stdout], [0, '[]'], stderr);
  assert.ok(first.stdout().includes(`the new file ${join(cwd, 'garden.db')}`), first.stdout());
  assert.equal(await first.stop(), 0);
  assert.match(first.stdout(), /^ +curl .*\n\nThen move the token/m);
  assert.match(first.stderr(), /^[\d:]{8} GET \/openapi\.json 200 .*^[\d:]{8} stopped\n$/ms);
  assert.deepEqual((await readdir(cwd)).sort(), ['first-token.txt', 'garden.db', 'people.json']);
  for (const name of await readdir(cwd)) assert.equal((await stat(join(cwd, name))).mode & 0o777, 0o600, name);
  assert.equal(readTokenFile(join(cwd, 'people.json'))[0]?.user, 'me');
  const token = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
  assert.ok(!(first.stdout() + first.stderr()).includes(token));

  await rm(join(cwd, 'first-token.txt'));
  const second = await start();
  const authorization = `Bearer ${token}`;
  assert.equal((await fetch(`${second.url}/plants`, { headers: { authorization } })).status, 200);
  assert.equal((await fetch(`${second.url}/docs`)).status, 200);
  assert.equal(await second.stop(), 0);
  assert.doesNotMatch(second.stdout(), /new file|curl/);
  assert.match(second.stdout(), /http:\/\/localhost:\d+\/docs\n/);
  assert.deepEqual((await readdir(cwd)).sort(), ['garden.db', 'people.json']);
});

it('plant-store serve › exits and names the problem if it cannot listen or cannot use a file', async (t) => {
  const cwd = await temporaryFolder(t);
  const { port } = new URL(await listenUrl(t, createServer()));
  await writeFile(join(cwd, 'bad.json'), '{"tokens":["pst_secret"]}');
  await mkdir(join(cwd, 'etc'));
  await symlink('loop', join(cwd, 'loop'));
  for (const { flags, problem, code } of [
    { flags: `--port ${port}`, problem: `in use 127.0.0.1:${port}. Change --port or --host.`, code: 1 },
    // At boot, an address or the name service may not be available yet.
    { flags: '--port 0 --host 192.0.2.1', problem: 'EADDRNOTAVAIL', code: 1 },
    { flags: '--port 0 --host a..b', problem: 'ENOTFOUND', code: 1 },
    { flags: '--tokens none/tokens.json', problem: 'There is no folder', code: 2 },
    { flags: '--tokens etc', problem: 'is not a file', code: 2 },
    { flags: '--tokens loop', problem: 'loop cannot be used: ELOOP', code: 2 },
    { flags: '--tokens bad.json', problem: /bad\.json cannot be used: (?!.*pst_).* Correct it/, code: 2 },
  ]) {
    await assertFails(`serve ${flags}`, { cwd }, problem, code);
  }
  // The public port is opened last. An open admin port does not keep the process running.
  for (const [adminPort, flags] of [
    [port, '--admin-port or --admin-host'],
    ['0', '--port or --host'],
  ] as const) {
    const { code, stderr } = await runCommand(['serve', '--port', port, '--admin-port', adminPort], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${port}\\. Change ${flags}\\."}\n$`));
  }
  const server = await startServer(t, [], { cwd });
  // An earlier start, which could not listen, has created the first token.
  await server.printed(/curl/);
  await rm(join(cwd, 'tokens.json'));
  await assertFails('serve', { cwd }, `${join(cwd, 'first-token.txt')}, which exists`, 2);
  assert.ok(!(await readdir(cwd)).includes('tokens.json'));
});

it('plant-store serve › creates a database without --create only if there is no tokens file', async (t) => {
  const { cwd, tokens } = await folderWithToken(t);
  const file = join(cwd, 'plants.db');
  const advice = `The tokens file ${tokens} exists, so the database may be lost: check --storage, `;
  await assertFails('serve', { cwd }, `There is no file ${file}. ${advice}`, 2);
  await writeFile(file, '');
  await assertFails('serve', { cwd }, `${file} is empty. ${advice}`, 2);
  assert.deepEqual((await readdir(cwd)).sort(), ['plants.db', 'tokens.json']);
  assert.equal((await stat(file)).size, 0);
  execute(file, 'CREATE TABLE a (b); DROP TABLE a');
  await assertFails('serve', { cwd }, `${file} is empty. ${advice}`, 2);
  await rm(tokens);
  const child = spawnCommand(['serve', '--port', '0'], { cwd });
  const { stop, stderr } = await untilListening(t, child, /^Plant Store listening on /m);
  assert.equal(await stop(), 0);
  assert.ok(stderr().includes(`There is no tokens file ${tokens}, although ${file} exists.`), stderr());
});

/** Runs `plant-store serve` as `owner`. Root loads the program first, because `owner` may have no access to it. */
const serveAsOwner = `
  import { run } from '${sourceUrl('cli/run.ts')}';
  const { uid } = ${JSON.stringify(owner)};
  if (uid !== undefined) {
    process.setgroups([uid]);
    process.setgid(uid);
    process.setuid(uid);
  }
  process.exitCode = await run(['serve', '--port', '0']);`;

it('plant-store serve › names the file, the user and the remedy if it may not write a file or folder', async (t) => {
  for (const { name, mode } of [
    { name: 'plants.db', mode: 0o400 },
    { name: 'plants.db-shm', mode: 0o400 },
    { name: '.', mode: 0o500 },
  ]) {
    const cwd = await temporaryFolder(t);
    await writeFile(join(cwd, 'plants.db-shm'), '');
    new DatabaseSync(join(cwd, 'plants.db')).close();
    // -1 changes nothing.
    const { uid = -1, gid = -1 } = owner;
    for (const path of ['.', 'plants.db', 'plants.db-shm']) await chown(join(cwd, path), uid, gid);
    await chmod(join(cwd, name), mode);
    const options = { cwd, env: commandEnvironment() };
    const { code, stderr } = await runProgram(process.execPath, evalArgs(serveAsOwner), options);
    assert.equal(code, 1);
    assert.match(stderr, /"The user \w+ may not write .*: .*chown.*chmod\."/m);
    assert.ok(stderr.includes(join(cwd, name)), stderr);
  }
});

it('reachableUrl › converts a URL of listen to one that is reachable on this machine', async (t) => {
  for (const [host, reachable] of Object.entries({ '0.0.0.0': 'localhost', '::': 'localhost', '[::1]': '[::1]' })) {
    const server = createServer((_, response) => response.end('ok'));
    t.after(() => server.close());
    try {
      const url = reachableUrl(await listen(server, host, 0, '--host'));
      assert.equal(new URL(url).hostname, reachable);
      assert.equal(await (await fetch(url)).text(), 'ok');
    } catch (error) {
      if (!/EADDRNOTAVAIL|EAFNOSUPPORT/.test(String(error))) throw error;
      t.diagnostic(`NOT CHECKED: this machine does not have ${host}`);
    }
  }
});
