import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { settings, variableOf } from '../../../src/tools/cli/environment.ts';
import { callCommand } from '../../support/call-command.ts';
import { runCommand } from '../../support/command-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const flagsOf = {
  serve: Object.keys(settings),
  token: ['scope', 'expires-in', 'tokens'],
  copy: ['from', 'to'],
  export: ['storage'],
  import: ['storage', 'strict'],
  backup: ['storage'],
  check: ['token', 'read-only-token', 'concurrent', 'clients', 'operations', 'json'],
};

describe('plant-store', () => {
  it('prints help with every command, in lines of at most 80 columns', async () => {
    const { code, stdout, stderr } = await runCommand(['--help'], { cwd: '/' });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Usage: plant-store COMMAND/);
    for (const name of [...Object.keys(flagsOf), 'help', 'version']) {
      assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
    }
    for (const flag of ['-h', '--help', 'help']) {
      assert.equal((await callCommand([flag], { cwd: '/' })).stdout, stdout);
    }
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
    // Without a command, the help is printed as an error message.
    assert.deepEqual(await callCommand([], { cwd: '/' }), { code: 2, stdout: '', stderr: stdout });
  });

  for (const [command, flags] of Object.entries(flagsOf)) {
    it(`prints the help of ${command}, with variables and default of every flag, wherever --help is`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { code, stdout, stderr } = await callCommand([command, '--help'], { cwd });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, new RegExp(`^Usage: plant-store ${command} `));
      for (const flag of [...flags, 'help']) {
        const [, text] = new RegExp(`^ {2}(?:-h, )?--${flag} (.*\\n(?: {4}.*\\n)*)`, 'm').exec(stdout) ?? [];
        assert.ok(text !== undefined, flag);
        const known: Readonly<Record<string, { fallback: string; platform?: string }>> = settings;
        const { fallback, platform } = known[flag] ?? { fallback: '' };
        const variable = Object.hasOwn(known, flag) ? variableOf(flag) : '';
        const values = flag === 'docs' ? [variable] : [variable, platform ?? '', fallback];
        for (const value of values) assert.ok(text.includes(value), `${flag}: ${value}`);
      }
      for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
      for (const args of [
        [command, '--bogus', 'create', '--help'],
        [command, '-h'],
        ['help', command],
      ]) {
        assert.deepEqual(await callCommand(args, { cwd }), { code: 0, stdout, stderr: '' });
      }
      assert.deepEqual(await readdir(cwd), []);
    });
  }

  it('prints the version of the package', async () => {
    const manifest = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    for (const flag of ['--version', '-v', 'version']) {
      assert.deepEqual(await callCommand([flag], { cwd: '/' }), { code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  it('reads the process arguments and sets the exit code', async (t) => {
    const cwd = await temporaryFolder(t);
    const stderr = "plant-store: There is no command 'serv'. Did you mean 'serve'?\n";
    assert.deepEqual(await runCommand(['serv'], { cwd }), { code: 2, stdout: '', stderr });
    const created = await runCommand(['token', 'create', '--', '--help'], { cwd });
    assert.deepEqual([created.code, existsSync(join(cwd, 'tokens.json'))], [0, true]);
  });
});
