import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** How a program ended, and what it printed. */
export type Finished = Awaited<ReturnType<typeof finish>>;

export interface RunOptions {
  readonly cwd?: string;
  /** Default {@link plainEnvironment}. */
  readonly env?: NodeJS.ProcessEnv;
  /** The program is killed after this time. By default, there is no limit. */
  readonly timeoutMs?: number;
  /** The account that runs the program, which root can choose. */
  readonly uid?: number;
  readonly gid?: number;
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
  const { env = plainEnvironment(), timeoutMs, ...others } = options;
  const killAfter = timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' as const };
  return finish(spawn(command, args, { ...others, env, stdio: ['ignore', 'pipe', 'pipe'], ...killAfter }));
}

/** Runs a program until it ends, asserts that its exit code is 0, and returns its standard output. */
export async function runSuccessfully(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, args, options);
  assert.equal(code, 0, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/**
 * Returns Node.js arguments that run a module given as text. The module can import TypeScript files. `args` contains
 * the arguments of the module, and `imports` contains the URLs of modules that run first.
 */
export function evalArgs(code: string, args: readonly string[] = [], imports: readonly string[] = []): string[] {
  return [...imports.flatMap((url) => ['--import', url]), '--input-type=module', '--eval', code, ...args];
}

/** Asserts that the output of node:test reports at least one passed test and no failed test. */
export function assertTestsPassed(stdout: string): void {
  assert.match(stdout, /^(ℹ|#) pass [1-9]\d*$/m);
  assert.match(stdout, /^(ℹ|#) fail 0$/m);
}
