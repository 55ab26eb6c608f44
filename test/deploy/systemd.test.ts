import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = join(root, 'deploy/systemd');

describe('deploy/systemd', () => {
  it('contains units that systemd-analyze accepts', async (t) => {
    if (!hasProgram(t, 'systemd-analyze')) return;
    const units = (await readdir(folder)).map((name) => join(folder, name));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    const ownLines = (stdout + stderr).split('\n').filter((line) => line.includes('plant-store'));
    assert.deepEqual([status, ownLines], [0, []], stdout + stderr);
  });

  it('keeps one backup for each day of the week, and replaces it only by a complete one', async (t) => {
    const cwd = await temporaryFolder(t);
    const unit = await readFile(join(folder, 'plant-store-backup.service'), 'utf8');
    const quoted = /ExecStart=\/bin\/sh -ec '([^']+)'/.exec(unit)?.[1] ?? '';
    const backups = join(cwd, 'backups');
    const script = quoted
      .replaceAll('%%', '%')
      .replaceAll('\\\n', '\n')
      .replaceAll('/var/backups/plant-store', backups)
      .replaceAll('/var/lib/plant-store', cwd);
    await mkdir(backups);
    await writeFile(join(cwd, 'tokens.json'), '{}');
    // Instead of plant-store: writes its last argument's file, or fails if BROKEN is set.
    const program = '#!/bin/sh\nfor file; do :; done\necho "$*" > "$file"\ntest -z "$BROKEN"\n';
    await writeFile(join(cwd, 'plant-store'), program);
    await chmod(join(cwd, 'plant-store'), 0o755);
    const run = (BROKEN: string): number | null =>
      spawnSync('/bin/sh', ['-ec', script], { env: { PATH: `${cwd}:${process.env['PATH'] ?? ''}`, BROKEN } }).status;
    assert.equal(run(''), 0);
    const names = (await readdir(backups)).sort();
    assert.match(names.join(' '), /^plants-[1-7]\.db tokens\.json$/);
    const backup = join(backups, names[0] ?? '');
    const complete = await readFile(backup, 'utf8');
    assert.equal(complete, `backup --storage sqlite:${cwd}/plants.db ${backup}.new\n`);
    assert.notEqual(run('1'), 0);
    assert.equal(await readFile(backup, 'utf8'), complete);
  });
});
