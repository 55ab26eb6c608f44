import { spawn } from 'node:child_process';
import { commandEnvironment, runProgram } from './run-program.ts';
import type { Finished } from './run-program.ts';
import { untilListening } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { main } from './sources.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Where and how a command runs. The command's environment consists of PATH and `env`. */
export interface CommandContext {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** A program that executes the rest of its arguments, such as prlimit, and its own arguments. */
  readonly wrapper?: readonly string[];
}

/** A wrapper that appends standard error to a file, instead of keeping it in memory. */
export const logTo = (file: string): readonly string[] => ['sh', '-c', `exec "$0" "$@" 2>>'${file}'`];

export function spawnCommand(args: string[], { cwd, env, wrapper = [] }: CommandContext) {
  const [program = '', ...programArgs] = [...wrapper, process.execPath, main, ...args];
  return spawn(program, programArgs, { cwd, env: commandEnvironment(env), stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs `plant-store` until it ends, or kills it after a minute. Its exit code is then `null`. */
export function runCommand(args: string[], { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<Finished> {
  return runProgram(process.execPath, [main, ...args], { cwd, env: commandEnvironment(env), timeoutMs: 60_000 });
}

/**
 * Starts `plant-store serve` on a free port. Creates a missing database, because most tests create the tokens file
 * first. A server that still runs after the test is killed.
 */
export function startServer(t: HasAfter, args: string[], context: CommandContext): Promise<ServerProcess> {
  const child = spawnCommand(['serve', '--port', '0', '--create', ...args], context);
  return untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
}
