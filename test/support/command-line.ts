import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { HasAfter } from './temporary-folder.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const tsx = import.meta.resolve('tsx');

/** Where and how a command runs. Its environment is empty but for PATH and what is given. */
export interface CommandContext {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  /** A file to read standard input from; without it there is none. */
  readonly stdin?: string;
  /** The limit of open files, soft and hard, set by prlimit; without it the limit of this process holds. */
  readonly maxOpenFiles?: number;
}

/** What a command did. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `plant-store` from the sources. */
export function spawnCommand(
  args: string[],
  { cwd, env = {}, stdin = '/dev/null', maxOpenFiles }: CommandContext,
): ChildProcessByStdio<null, Readable, Readable> {
  const { PATH = '', NODE_V8_COVERAGE } = process.env;
  const input = openSync(resolve(cwd, stdin), 'r');
  try {
    const node = ['--import', tsx, main, ...args];
    const [program, programArgs] =
      maxOpenFiles === undefined
        ? [process.execPath, node]
        : ['prlimit', [`--nofile=${maxOpenFiles}:${maxOpenFiles}`, process.execPath, ...node]];
    return spawn(program, programArgs, {
      cwd,
      env: { PATH, ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }), ...env },
      stdio: [input, 'pipe', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>;
  } finally {
    closeSync(input);
  }
}

/** Runs `plant-store` to its end; one that has not ended after `withinMs` is killed, and its code is `null`. */
export async function runCommand(args: string[], context: CommandContext, withinMs = 20_000): Promise<Finished> {
  const child = spawnCommand(args, context);
  const kill = setTimeout(() => child.kill('SIGKILL'), withinMs);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  clearTimeout(kill);
  return { code, stdout, stderr };
}

/** A `plant-store serve` that accepts connections. */
export interface RunningServer {
  readonly url: string;
  readonly pid: number;
  /** All of standard output so far. */
  stdout(): string;
  /** All of standard error so far. */
  stderr(): string;
  /** Sends a signal, if any, and resolves with the exit code, or `null` where the signal killed it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `plant-store serve` on a free port; it is killed after the test if it still runs. */
export async function startServer(t: HasAfter, args: string[], context: CommandContext): Promise<RunningServer> {
  const child = spawnCommand(['serve', '--port', '0', ...args], context);
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      const listening = /^Plant Store listening on (\S+)\n/m.exec(stdout)?.[1];
      if (listening !== undefined) resolve(listening);
    });
    void exited.then((code) => {
      reject(new Error(`serve ended with ${code ?? 'a signal'}: ${stderr}`));
    });
  });
  return {
    url,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}
