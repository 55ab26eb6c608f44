import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { callCommand } from '../../../support/call-command.ts';
import { main, tsx } from '../../../support/sources.ts';
import { hasProgram } from '../../../support/system-fault.ts';

const red = '\u001b[31m';

describe('colors', () => {
  for (const [name, env, isColored] of [
    ['are on by default', {}, true],
    ['are on if NO_COLOR is empty', { NO_COLOR: '' }, true],
    ['are off if NO_COLOR is not empty', { NO_COLOR: '1' }, false],
    ['are off if FORCE_COLOR is 0', { FORCE_COLOR: '0' }, false],
    ['are off if the terminal is dumb', { TERM: 'dumb' }, false],
  ] as const) {
    it(`on a terminal ${name}`, (t) => {
      if (!hasProgram(t, 'script')) return;
      const args = ['--quiet', '--command', `'${process.execPath}' --import '${tsx}' '${main}' serv`, '/dev/null'];
      const { PATH = '' } = process.env;
      const { stdout } = spawnSync('script', args, { encoding: 'utf8', env: { PATH, TERM: 'xterm', ...env } });
      assert.match(stdout, /There is no command 'serv'/);
      assert.equal(stdout.includes(red), isColored, JSON.stringify(stdout));
    });
  }

  it('elsewhere are off, unless FORCE_COLOR turns them on', async () => {
    const message = "There is no command 'serv'. Did you mean 'serve'?\n";
    assert.equal((await callCommand(['serv'], { cwd: '/' })).stderr, `plant-store: ${message}`);
    const forced = await callCommand(['serv'], { cwd: '/', env: { FORCE_COLOR: '1' } });
    assert.equal(forced.stderr, `${red}plant-store:\u001b[39m ${message}`);
  });
});
