import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** The user that runs the programs. If this process runs as root, it is `nobody`: PostgreSQL refuses to run as root. */
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A program that runs in the background and can be killed and started again. */
export class LoggedProcess {
  readonly #command: readonly [string, ...string[]];
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();

  /**
   * Does not start the program. `folder` is the program's working directory and home directory. The program's output is
   * appended to a file beside it.
   */
  constructor(command: readonly [string, ...string[]], folder: string, environment: Record<string, string> = {}) {
    this.#command = command;
    this.#folder = folder;
    this.#environment = environment;
  }

  /** The process id, or `undefined` if the program is not running. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const [program, ...args] = this.#command;
    const log = openSync(`${this.#folder}.log`, 'a');
    const child = spawn(program, args, {
      ...owner,
      cwd: this.#folder,
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'], HOME: this.#folder, LC_ALL: 'C', ...this.#environment },
    });
    closeSync(log);
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
