import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { chmod, cp, copyFile, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { after, it } from 'node:test';
import { install } from '../package/pack.ts';
import { callService } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { finish, runSuccessfully } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { ownedFolder, owner, temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const units = join(root, 'deploy/systemd');
const installed = await temporaryFolder({ after });
await install(installed);

/**
 * Starts a copy of the installed server, as another user if root runs the tests. `wrapper` is a command that starts it,
 * such as strace. `run` runs a command until it ends. `state` is the folder with the database and the tokens.
 */
async function startService(t: HasAfter, wrapper: readonly string[] = []) {
  const folder = await temporaryFolder(t);
  await cp(installed, folder, { recursive: true, verbatimSymlinks: true });
  await chmod(folder, 0o755);
  const bin = join(folder, 'node_modules/.bin');
  // Node.js is copied, because the account might not have access to the original folder.
  await copyFile(process.execPath, join(bin, 'node'));
  const [state, backups] = [await ownedFolder(join(folder, 'state-')), await ownedFolder(join(folder, 'backups-'))];
  const env = {
    PATH: [bin, process.env['PATH']].join(delimiter),
    PLANT_STORE_STORAGE: `sqlite:${state}/plants.db`,
    PLANT_STORE_TOKENS: `${state}/tokens.json`,
    PORT: '0',
  };
  const [program, ...args] = [...wrapper, 'plant-store', 'serve', '--admin-port', '0'] as const;
  const options: SpawnOptions = { ...owner, cwd: state, env, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(program, args, options);
  const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
  const token = (await readFile(join(state, 'first-token.txt'), 'utf8')).trim();
  return {
    server,
    state,
    backups,
    run: (command: string, ...flags: string[]) => finish(spawn(command, flags, options)),
    call: (method: string, target: string, plant?: object) =>
      callService(server.url, method, target, { token, ...(plant && { body: JSON.stringify(plant) }) }),
  };
}

/** Returns the system calls with these names. A name can also be a set of systemd, such as `@file-system`. */
async function callsIn(names: readonly string[]): Promise<string[]> {
  const calls: string[] = [];
  for (const name of names) {
    if (!name.startsWith('@')) calls.push(name);
    else {
      const listed = await runSuccessfully('systemd-analyze', ['syscall-filter', name]);
      calls.push(...(await callsIn(listed.match(/(?<=^ +)[@\w]\S*$/gm) ?? [])));
    }
  }
  return calls;
}

it('deploy/systemd › contains units that systemd-analyze accepts', async (t) => {
  if (!hasProgram(t, 'systemd-analyze')) return;
  const files = (await readdir(units)).map((name) => join(units, name));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
  const ownLines = (stdout + stderr).split('\n').filter((line) => line.includes('plant-store'));
  assert.deepEqual([status, ownLines], [0, []], stdout + stderr);
});

it('deploy/systemd › keeps one backup per day of the week, and replaces it only with a complete one', async (t) => {
  const { state, backups, run, call } = await startService(t);
  const unit = await readFile(join(units, 'plant-store-backup.service'), 'utf8');
  const [, quoted = ''] = /ExecStart=\/bin\/sh -ec '([^']+)'/.exec(unit) ?? [];
  const script = quoted
    .replaceAll('%%', '%')
    .replaceAll('\\\n', '\n')
    .replaceAll('/var/backups/plant-store', backups)
    .replaceAll('/var/lib/plant-store', state);
  const backUp = async (limit = '') => (await run('/bin/sh', '-ec', limit + script)).code;
  const namesIn = async (backup: string) => {
    const { stdout } = await run('plant-store', 'export', '--storage', `sqlite:${backup}`);
    return Array.from(stdout.matchAll(/"name":"(\w+)"/g), ([, name = '']) => name);
  };

  assert.equal((await call('POST', '/plants', { id: 1, name: 'Fern' })).status, 200);
  assert.equal(await backUp(), 0);
  const files = (await readdir(backups)).sort();
  assert.match(files.join(' '), /^plants-[1-7]\.db tokens\.json$/);
  const backup = join(backups, files[0] ?? '');
  assert.deepEqual(await namesIn(backup), ['Fern']);
  assert.deepEqual(await readFile(join(backups, 'tokens.json')), await readFile(join(state, 'tokens.json')));

  assert.equal((await call('POST', '/plants', { id: 2, name: 'Moss' })).status, 200);
  // The limit of one block per file makes the backup fail as on a full disk.
  assert.notEqual(await backUp('ulimit -f 1;'), 0);
  assert.deepEqual(await namesIn(backup), ['Fern']);
  assert.deepEqual((await readdir(backups)).sort(), files);

  // Such files remain if a program that opened the backup was killed.
  for (const name of [backup, `${backup}.new`]) {
    for (const ending of ['-wal', '-shm', '-journal']) await writeFile(name + ending, 'old');
  }
  assert.equal(await backUp(), 0);
  assert.deepEqual((await readdir(backups)).sort(), files);
  assert.deepEqual(await namesIn(backup), ['Fern', 'Moss']);
});

it('deploy/systemd › permits every system call that the server makes', async (t) => {
  if (!hasProgram(t, 'strace') || !hasProgram(t, 'systemd-analyze')) return;
  // With -D, the child process is the server, and strace runs as a separate process.
  const { server, state, backups, run, call } = await startService(t, ['strace', '-D', '-f', '-o', 'trace']);
  // These plants fill the WAL several times, and SQLite runs a checkpoint each time.
  for (let id = 1; id <= 300; id++) {
    assert.equal((await call('POST', '/plants', { id, name: 'x'.repeat(60_000), tag: 'y' })).status, 200);
  }
  assert.ok((await stat(join(state, 'plants.db'))).size > 2 ** 20, 'no checkpoint');
  assert.equal((await call('GET', '/plants')).status, 200);
  assert.equal((await call('DELETE', '/plants/1')).status, 204);
  assert.equal((await run('plant-store', 'backup', join(backups, 'backup.db'))).code, 0);
  assert.equal(await server.stop(), 0);

  const text = await eventually(async () => {
    const written = await readFile(join(state, 'trace'), 'utf8');
    assert.match(written, new RegExp(`^${server.pid} +\\+\\+\\+ exited`, 'm'));
    return written;
  });
  const unit = await readFile(join(units, 'plant-store.service'), 'utf8');
  const permitted = new Set<string>();
  for (const [, tilde, names = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const name of await callsIn(names.split(' '))) permitted[tilde === '' ? 'add' : 'delete'](name);
  }
  assert.ok(permitted.has('fsync') && !permitted.has('chown'));
  const used = new Set(Array.from(text.matchAll(/^\d+ +(\w+)\(/gm), ([, name = '']) => name));
  assert.ok(used.has('fsync') && used.has('accept4'));
  const refused = [...used].filter((name) => !permitted.has(name));
  assert.deepEqual(refused, []);
});
