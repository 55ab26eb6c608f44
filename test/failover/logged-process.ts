import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

/** The user that runs the programs. If this process runs as root, it is `nobody`: PostgreSQL refuses to run as root. */
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A program that runs in the background and can be killed and started again. */
export class LoggedProcess {
  readonly #log: string;
  readonly #folder: string;
  readonly #command: readonly [string, ...string[]];
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  /**
   * Does not start the program. Its output is appended to the file `log`. `folder` is its working directory and home
   * directory.
   */
  constructor(log: string, folder: string, command: readonly [string, ...string[]], environment = {}) {
    this.#log = log;
    this.#folder = folder;
    this.#command = command;
    this.#environment = environment;
  }

  /** The process id, or `undefined` if the program is not running. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const [program, ...args] = this.#command;
    const log = openSync(this.#log, 'a');
    const env = { PATH: process.env['PATH'], HOME: this.#folder, LC_ALL: 'C', ...this.#environment };
    const child = spawn(program, args, { ...owner, cwd: this.#folder, stdio: ['ignore', log, log], env });
    closeSync(log);
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
  }

  /** Kills the program, and resolves when the program has ended. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
