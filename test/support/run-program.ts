import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** How a program ended, and what it printed. */
export type Finished = Awaited<ReturnType<typeof finish>>;

interface RunOptions {
  readonly cwd?: string;
  /** Default {@link plainEnvironment}. */
  readonly env?: NodeJS.ProcessEnv;
  /** The program is killed after this time. By default, there is no limit. */
  readonly timeoutMs?: number;
}

/** Returns the environment of this process, without the variable that makes node:test report in binary. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_TEST_CONTEXT: undefined };
}

/** Returns the environment of a command: PATH, NODE_V8_COVERAGE if it is set, and `env`. */
export function commandEnvironment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH = '', NODE_V8_COVERAGE } = process.env;
  return { PATH, ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }), ...env };
}

/** Waits until a program ends. `code` is its exit code, or `null` if a signal ended it. */
export async function finish(child: ChildProcess) {
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    exited,
  ]);
  return { code, stdout, stderr };
}

export function runProgram(command: string, args: string[], options: RunOptions = {}): Promise<Finished> {
  const { cwd, env = plainEnvironment(), timeoutMs = 0 } = options;
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
  return finish(spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...limits }));
}

/** Runs a program until it ends, asserts that its exit code is 0, and returns its standard output. */
export async function runSuccessfully(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, args, options);
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Returns Node.js arguments that run a module given as text, which can import TypeScript files. */
export function evalArgs(code: string): string[] {
  return ['--input-type=module', '--eval', code];
}

/** Asserts that the output of node:test reports at least one passed test and no failed test. */
export function assertTestsPassed(stdout: string): void {
  assert.match(stdout, /^(ℹ|#) pass [1-9]\d*$/m);
  assert.match(stdout, /^(ℹ|#) fail 0$/m);
}
