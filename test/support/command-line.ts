import { spawn } from 'node:child_process';
import type { ChildProcessByStdio, StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
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
  /** The file to which standard error is appended. By default, it is kept in memory. */
  readonly log?: string;
  /** The soft and hard limits on open files, which prlimit sets. By default, the limits of this process apply. */
  readonly maxOpenFiles?: number;
}

export function spawnCommand(
  args: string[],
  { cwd, env, log, maxOpenFiles }: CommandContext,
): ChildProcessByStdio<null, Readable, Readable> {
  const limit = maxOpenFiles === undefined ? [] : ['prlimit', `--nofile=${maxOpenFiles}:${maxOpenFiles}`];
  const [program = '', ...programArgs] = [...limit, process.execPath, main, ...args];
  const output = log === undefined ? 'pipe' : openSync(resolve(cwd, log), 'a');
  const options = { cwd, env: commandEnvironment(env), stdio: ['ignore', 'pipe', output] as StdioOptions };
  try {
    return spawn(program, programArgs, options) as ChildProcessByStdio<null, Readable, Readable>;
  } finally {
    if (output !== 'pipe') closeSync(output);
  }
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
