import { readFileSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { signalTree } from '../support/process-tree.ts';
import { LoggedProcess, owner } from './logged-process.ts';
import { adapt, pagePorts } from './page.ts';
import type { PageConfiguration } from './page.ts';
import type { Programs } from './requirements.ts';

export interface MachineOptions {
  readonly name: string;
  readonly address: string;
  /** The folder for the files of all machines. */
  readonly folder: string;
  readonly programs: Programs;
  readonly page: PageConfiguration;
  readonly ports: ReadonlyMap<number, number>;
}

/** A database machine as the page describes it. Its etcd, Patroni and PostgreSQL use their own loopback address. */
export class DatabaseMachine {
  readonly name: string;
  readonly etcd: LoggedProcess;
  readonly patroni: LoggedProcess;
  /** The URL of Patroni's REST API. */
  readonly api: string;
  /** The address and port of PostgreSQL. */
  readonly database: string;
  readonly #data: string;

  private constructor(options: MachineOptions, folder: string, environment: Readonly<Record<string, string>>) {
    const { name, address, programs, ports } = options;
    this.name = name;
    this.api = `http://${address}:${ports.get(pagePorts.patroni) ?? 0}`;
    this.database = `${address}:${ports.get(pagePorts.postgres) ?? 0}`;
    this.#data = join(folder, 'data');
    const log = (program: string): string => join(options.folder, `${name}-${program}.log`);
    this.etcd = new LoggedProcess({ command: programs.etcd, args: [], folder, log: log('etcd'), environment });
    this.patroni = new LoggedProcess({
      command: programs.patroni,
      args: [join(folder, 'config.yml')],
      folder,
      log: log('patroni'),
    });
  }

  /** Writes the page's configuration files, adapted to this machine. Does not start any program. */
  static async prepare(options: MachineOptions): Promise<DatabaseMachine> {
    const { name, address, page, ports, programs } = options;
    const folder = join(options.folder, name);
    await mkdir(folder, { mode: 0o700 });
    if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
    const paths = new Map([
      ['/var/lib/etcd/garden', join(folder, 'etcd')],
      ['/var/lib/postgresql/15/garden', join(folder, 'data')],
      ['/usr/lib/postgresql/15/bin', dirname(programs.postgres)],
      ['/var/run/postgresql', folder],
    ]);
    const replacements = { name, address, ports, paths };
    await writeFile(join(folder, 'config.yml'), adapt(page.patroni, replacements));
    const lines = adapt(page.etcd, replacements).matchAll(/^(ETCD_\w+)=(.+)$/gm);
    const environment = Object.fromEntries([...lines].map(([, key = '', value = '']) => [key, value]));
    return new DatabaseMachine(options, folder, environment);
  }

  /** Kills PostgreSQL and Patroni at the same time. */
  async killDatabase(): Promise<void> {
    this.signalDatabase('SIGKILL');
    await this.patroni.kill();
  }

  /** Pauses Patroni. PostgreSQL keeps running. */
  freezePatroni(): void {
    const { pid } = this.patroni;
    if (pid !== undefined) signalTree(pid, 'SIGSTOP');
  }

  /** Sends a signal to PostgreSQL and Patroni. SIGSTOP pauses both, as if their virtual machine were paused. */
  signalDatabase(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const { pid } = this.patroni;
    if (pid !== undefined) signalTree(pid, signal);
    const postmaster = this.#postmaster();
    if (postmaster !== undefined) signalTree(postmaster, signal);
  }

  /** Returns the id of the main PostgreSQL process, because this process is not a child process of Patroni. */
  #postmaster(): number | undefined {
    try {
      return Number(readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    } catch {
      return undefined;
    }
  }
}
