import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { owner } from '../support/postgres.ts';

/** A program that runs in the background and can be killed and started again. */
export class LoggedProcess {
  readonly #spawn: () => ChildProcess;
  #child: ChildProcess | undefined;

  /** `folder` is the working directory and the home directory. The output is appended to a log beside it. */
  constructor(folder: string, name: string, [program, ...args]: readonly [string, ...string[]]) {
    const env = { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C' };
    this.#spawn = () => {
      const log = openSync(`${folder}-${name}.log`, 'a');
      const child = spawn(program, args, { ...owner, cwd: folder, stdio: ['ignore', log, log], env });
      closeSync(log);
      return child;
    };
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the program if it is not running. */
  start(): void {
    if (this.#child !== undefined) return;
    this.#child = this.#spawn().once('exit', () => {
      this.#child = undefined;
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
