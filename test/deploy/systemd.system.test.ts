import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callService } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { create, installService } from './installed-service.ts';

const folder = join(root, 'deploy/systemd');

/** Returns the shell script of the backup unit, with its folders replaced. */
async function backupScript(state: string, backups: string): Promise<string> {
  const unit = await readFile(join(folder, 'plant-store-backup.service'), 'utf8');
  const quoted = /ExecStart=\/bin\/sh -ec '([^']+)'/.exec(unit)?.[1] ?? '';
  return quoted
    .replaceAll('%%', '%')
    .replaceAll('\\\n', '\n')
    .replaceAll('/var/backups/plant-store', backups)
    .replaceAll('/var/lib/plant-store', state);
}

/** Returns the system calls that the server unit permits. */
async function permittedCalls(): Promise<Set<string>> {
  const permitted = new Set<string>();
  const unit = await readFile(join(folder, 'plant-store.service'), 'utf8');
  for (const [, tilde, names = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const call of await callsOf(names.split(' '))) {
      if (tilde === '') permitted.add(call);
      else permitted.delete(call);
    }
  }
  return permitted;
}

/** Replaces systemd sets, such as `@file-system`, with the system calls that they contain. */
async function callsOf(names: readonly string[]): Promise<string[]> {
  const calls: string[] = [];
  for (const name of names) {
    if (!name.startsWith('@')) calls.push(name);
    else {
      const text = await runSuccessfully('systemd-analyze', ['syscall-filter', name]);
      calls.push(...(await callsOf(Array.from(text.matchAll(/^ +([@\w]\S*)$/gm), ([, member = '']) => member))));
    }
  }
  return calls;
}

describe('deploy/systemd', () => {
  it('contains units that systemd-analyze accepts', async (t) => {
    if (!hasProgram(t, 'systemd-analyze')) return;
    const units = (await readdir(folder)).map((name) => join(folder, name));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    const ownLines = (stdout + stderr).split('\n').filter((line) => line.includes('plant-store'));
    assert.deepEqual([status, ownLines], [0, []], stdout + stderr);
  });

  it('keeps one backup for each day of the week, and replaces a backup only with a complete backup', async (t) => {
    const service = await installService(t);
    const server = await service.start();
    const token = await service.firstToken();
    const { backups } = service;
    const script = await backupScript(service.state, backups);
    const run = async (limit = ''): Promise<number | null> =>
      (await service.runAsService('/bin/sh', ['-ec', limit + script])).code;
    const namesIn = async (backup: string): Promise<string[]> => {
      const { stdout } = await service.run('plant-store', ['export', '--storage', `sqlite:${backup}`]);
      return Array.from(stdout.matchAll(/"name":"(\w+)"/g), ([, name = '']) => name);
    };

    assert.equal((await create(server, token, { id: 1, name: 'Fern' })).status, 200);
    assert.equal(await run(), 0);
    const files = (await readdir(backups)).sort();
    assert.match(files.join(' '), /^plants-[1-7]\.db tokens\.json$/);
    const backup = join(backups, files[0] ?? '');
    assert.deepEqual(await namesIn(backup), ['Fern']);
    assert.equal(
      await readFile(join(backups, 'tokens.json'), 'utf8'),
      await readFile(join(service.state, 'tokens.json'), 'utf8'),
    );

    assert.equal((await create(server, token, { id: 2, name: 'Moss' })).status, 200);
    // The limit of one block per file makes the backup fail as on a full disk.
    assert.notEqual(await run('ulimit -f 1;'), 0);
    assert.deepEqual(await namesIn(backup), ['Fern']);
    assert.deepEqual((await readdir(backups)).sort(), files);

    // Such files remain if a program that opened the backup was killed.
    for (const name of [backup, `${backup}.new`]) {
      for (const ending of ['-wal', '-shm', '-journal']) await writeFile(name + ending, 'old');
    }
    assert.equal(await run(), 0);
    assert.deepEqual((await readdir(backups)).sort(), files);
    assert.deepEqual(await namesIn(backup), ['Fern', 'Moss']);
    assert.deepEqual((await readdir(backups)).sort(), files);
    assert.equal(await server.stop(), 0);
  });

  it('permits every system call that the server makes', async (t) => {
    if (!hasProgram(t, 'strace') || !hasProgram(t, 'systemd-analyze')) return;
    const service = await installService(t);
    const trace = join(service.state, 'trace');
    // With -D, the child process is the server, and strace runs as a separate process.
    const server = await service.start(['strace', '-D', '-f', '-o', trace]);
    const token = await service.firstToken();
    // These plants fill more than 4000 WAL pages, after which SQLite runs a checkpoint.
    for (let id = 1; id <= 300; id++) {
      assert.equal((await create(server, token, { id, name: 'x'.repeat(60_000), tag: 'y' })).status, 200);
    }
    assert.ok((await stat(join(service.state, 'plants.db'))).size > 2 ** 20, 'no checkpoint');
    assert.equal((await callService(server.url, 'GET', '/plants', { token })).status, 200);
    assert.equal((await callService(server.url, 'DELETE', '/plants/1', { token })).status, 204);
    assert.equal((await service.run('plant-store', ['backup', join(service.backups, 'backup.db')])).code, 0);
    assert.equal(await server.stop(), 0);

    const text = await eventually(async () => {
      const written = await readFile(trace, 'utf8');
      assert.match(written, new RegExp(`^${server.pid} +\\+\\+\\+ exited`, 'm'));
      return written;
    });
    const permitted = await permittedCalls();
    assert.ok(permitted.has('fsync') && !permitted.has('chown'));
    const used = new Set(Array.from(text.matchAll(/^\d+ +(\w+)\(/gm), ([, name = '']) => name));
    assert.ok(used.has('fsync') && used.has('accept4'));
    assert.deepEqual(
      [...used].filter((name) => !permitted.has(name)),
      [],
    );
  });
});
