import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { issueToken } from '../../src/tokens/issue.ts';
import { readTokenFile } from '../../src/tokens/token-file.ts';
import { commandEnvironment } from '../support/run-program.ts';
import { main } from '../support/sources.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

async function folderWithStores(t: HasAfter): Promise<string> {
  const cwd = await temporaryFolder(t);
  await issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
  await createAll(join(cwd, 'plants.db'), rowOfPlants('ada', 1));
  return cwd;
}

/** Runs a command whose standard output is a pipe without a reader, or what `redirection` says. */
async function runWithout(
  cwd: string,
  command: string,
  redirection: string,
): Promise<{ code: number; stderr: string }> {
  const args = ['-c', `read -r _; exec "$@" ${redirection}`, 'sh', process.execPath, main, ...command.split(' ')];
  const child = spawn('sh', args, { cwd, env: commandEnvironment() });
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end('\n');
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
  return { code, stderr };
}

const results = ['token create bob', 'token list', 'export'];
const skip = existsSync('/dev/full') ? false : 'this system has no /dev/full';

it('plant-store commands › fail if their output is lost, and store no token', { skip }, async (t) => {
  const cwd = await folderWithStores(t);
  const kept = readTokenFile(join(cwd, 'tokens.json'));
  for (const { redirection, commands, expected } of [
    { redirection: '>/dev/full', commands: [...results, '-h'], expected: [1, /ENOSPC/] },
    { redirection: '>&-', commands: ['token create bob', 'export', '-h', '-v'], expected: [1, /closed/] },
    { redirection: '', commands: ['token create bob', 'export'], expected: [141, /^$/] },
    { redirection: '>/dev/null', commands: ['export'], expected: [0, /^Exported/] },
  ] as const) {
    for (const command of commands) {
      const { code, stderr } = await runWithout(cwd, command, redirection);
      assert.equal(code, expected[0], `${command} ${redirection}: ${stderr}`);
      assert.match(stderr, expected[1]);
      assert.ok(stderr.split('\n').length <= 2, stderr);
    }
  }
  assert.deepEqual(readTokenFile(join(cwd, 'tokens.json')), kept);
});
