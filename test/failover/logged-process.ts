import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** The user of the programs. For root, it is `nobody`, because PostgreSQL refuses to run as root. */
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface LoggedProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Its working folder and its home folder. */
  readonly folder: string;
  /** The file to which its output is appended. */
  readonly log: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A program that runs in the background, with its output in a file, and that can be killed and started again. */
export class LoggedProcess {
  readonly #options: LoggedProcessOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  /** Does not start the program. */
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
    // If the program cannot be started, the first request to it fails.
    child.once('error', () => undefined);
    this.#exited = once(child, 'exit').catch(() => undefined);
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** Kills the program, and resolves when it has ended. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#exited;
  }
}
