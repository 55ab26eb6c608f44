import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { text } from 'node:stream/consumers';

/** The exit code and the whole output of a program. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program and waits for its end. */
export async function runToEnd(cwd: string, program: string, args: readonly string[]): Promise<Ended> {
  // npm and its child processes use the same Node.js as the tests.
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  // Coverage is not measured in child processes.
  const env = { ...process.env, PATH, NODE_V8_COVERAGE: '' };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr };
}

/** Runs a program, asserts that it exits with 0, and returns its standard output. */
export async function run(cwd: string, program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(cwd, program, args);
  assert.equal(code, 0, `${program} ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}
