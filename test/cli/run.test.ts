import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings, variableOf } from '../../src/cli/environment.ts';
import { callCommand } from '../support/call-command.ts';
import { runCommand } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const flagsOf = {
  serve: Object.keys(settings),
  token: ['scope', 'expires-in', 'tokens'],
  copy: ['from', 'to'],
  export: ['storage'],
  import: ['storage'],
  backup: ['storage'],
  restore: ['storage'],
};

describe('plant-store', () => {
  it('prints help with every command', async () => {
    const { code, stdout, stderr } = await callCommand(['--help'], { cwd: '/' });
    assert.deepEqual([code, stderr], [0, '']);
    for (const name of Object.keys(flagsOf)) assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
    assert.equal((await callCommand(['-h'], { cwd: '/' })).stdout, stdout);
    // Without a command, the help is printed as an error message.
    assert.deepEqual(await callCommand([], { cwd: '/' }), { code: 2, stdout: '', stderr: stdout });
  });

  it('prints the flags of a command and their variables, wherever --help is', async () => {
    for (const [command, flags] of Object.entries(flagsOf)) {
      const { code, stdout } = await callCommand([command, '--help'], { cwd: '/' });
      assert.equal(code, 0);
      for (const flag of flags) {
        assert.ok(stdout.includes(`\n  --${flag} `), flag);
        if (command === 'serve') assert.ok(stdout.includes(variableOf(flag)), flag);
      }
      const again = await callCommand([command, '--bogus', 'create', '-h'], { cwd: '/' });
      assert.deepEqual(again, { code: 0, stdout, stderr: '' });
    }
  });

  it('prints the version of the package', async () => {
    const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    for (const flag of ['--version', '-v']) {
      assert.deepEqual(await callCommand([flag], { cwd: '/' }), { code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  it('reads the process arguments and sets the exit code', async (t) => {
    const cwd = await temporaryFolder(t);
    assert.equal((await runCommand(['serv'], { cwd })).code, 2);
    const created = await runCommand(['token', 'create', '--', '--help'], { cwd });
    assert.deepEqual([created.code, existsSync(join(cwd, 'tokens.json'))], [0, true]);
  });
});
