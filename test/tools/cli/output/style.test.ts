import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { join } from 'node:path';
import { root, tsx } from '../../../support/sources.ts';
import { hasProgram } from '../../../support/system-fault.ts';
import { runCommand } from '../../../support/command-line.ts';

const main = join(root, 'src', 'tools', 'cli', 'main.ts');
const red = '\u001b[31m';

/** Runs an invalid command on a terminal, with these variables. Returns what the terminal received. */
function runOnTerminal(env: Record<string, string>): string {
  const command = `'${process.execPath}' --import '${tsx}' '${main}' serv`;
  const { PATH = '' } = process.env;
  const args = ['--quiet', '--command', command, '/dev/null'];
  return spawnSync('script', args, { encoding: 'utf8', env: { PATH, TERM: 'xterm', ...env } }).stdout;
}

describe('colors', () => {
  for (const { name, env, isColored } of [
    { name: 'are on by default', env: {}, isColored: true },
    { name: 'are on if NO_COLOR is empty', env: { NO_COLOR: '' }, isColored: true },
    { name: 'are off if NO_COLOR is not empty', env: { NO_COLOR: '1' }, isColored: false },
    { name: 'are off if FORCE_COLOR is 0', env: { FORCE_COLOR: '0' }, isColored: false },
    { name: 'are off if the terminal is dumb', env: { TERM: 'dumb' }, isColored: false },
  ]) {
    it(`on a terminal ${name}`, (t) => {
      if (!hasProgram(t, 'script')) return;
      const output = runOnTerminal(env);
      assert.match(output, /There is no command 'serv'/);
      assert.equal(output.includes(red), isColored, JSON.stringify(output));
    });
  }

  it('elsewhere are off, unless FORCE_COLOR turns them on', async () => {
    const message = "There is no command 'serv'. Did you mean 'serve'?\n";
    assert.equal((await runCommand(['serv'], { cwd: '/' })).stderr, `plant-store: ${message}`);
    const forced = await runCommand(['serv'], { cwd: '/', env: { FORCE_COLOR: '1' } });
    assert.equal(forced.stderr, `${red}plant-store:\u001b[39m ${message}`);
  });
});
