import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** The user that runs the programs. If this process runs as root, it is `nobody`: PostgreSQL refuses to run as root. */
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface LoggedProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The program's working directory and home directory. */
  readonly folder: string;
  /** The file to which the program's output is appended. */
  readonly log: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A program that runs in the background and can be killed and started again. Its output is appended to a file. */
export class LoggedProcess {
  readonly #options: LoggedProcessOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  /** Creates a process object without starting the program. */
  constructor(options: LoggedProcessOptions) {
    this.#options = options;
  }

  /** The process id, or `undefined` if the program is not running. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const { command, args, folder, log, environment = {} } = this.#options;
    const output = openSync(log, 'a');
    const child = spawn(command, args, {
      ...owner,
      cwd: folder,
      stdio: ['ignore', output, output],
      env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C', ...environment },
    });
    closeSync(output);
    this.#child = child;
    // An error is ignored here, because the first request to a program that could not be started fails.
    child.once('error', () => undefined);
    this.#exited = once(child, 'exit').catch(() => undefined);
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** Kills the program, and resolves when the program has ended. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#exited;
  }
}
