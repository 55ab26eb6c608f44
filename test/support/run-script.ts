import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Importing it lets Node run TypeScript. */
export const tsx: string = import.meta.resolve('tsx');

/** This process's environment, but without what makes a child of node:test report in binary. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_TEST_CONTEXT: undefined };
}

/** Runs a program to its end, asserts that it exits with 0, and answers its standard output. */
export async function runScript(
  command: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(command, args, { env: plainEnvironment(), ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Asserts by the closing lines of node:test that tests were run and passed. */
export function assertTestsPassed(stdout: string): void {
  assert.match(stdout, /^(ℹ|#) pass [1-9]\d*$/m);
  assert.match(stdout, /^(ℹ|#) fail 0$/m);
}
