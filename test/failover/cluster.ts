import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDocument } from '../support/documents.ts';
import { eventually, eventuallyEqual } from '../support/eventually.ts';
import { signalTree } from '../support/process-tree.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { ownedFolder, owner } from '../support/temporary-folder.ts';

/** The addresses that replace those in docs/postgresql.md. */
const machineAddresses = { pg1: '127.77.0.11', pg2: '127.77.0.12', pg3: '127.77.0.13' };
const proxyAddresses = ['127.77.0.1', '127.77.0.2'];
/** How long a slow machine may take until the cluster has a leader and two standbys. */
const recoveryMs = 300_000;

type Signal = 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** Returns a program that runs in the background. `script` starts it in a folder, to which its output is written. */
function createProgram(folder: string, script: string) {
  let child: ChildProcess | undefined;
  const args = ['-c', `exec >>output.log 2>&1; ${script}`];
  const env = { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C' };
  const signal = (name: Signal): void => {
    if (child?.pid !== undefined) signalTree(child.pid, name);
  };
  return {
    signal,
    /** Starts the program if it is not running. */
    start: () => {
      child ??= spawn('sh', args, { ...owner, cwd: folder, stdio: 'ignore', env }).once('exit', () => {
        child = undefined;
      });
    },
    kill: async () => {
      const exited = child && once(child, 'exit');
      signal('SIGKILL');
      await exited;
    },
  };
}

/** Returns a database machine. Its etcd, Patroni and PostgreSQL use their own loopback address. */
function createMachine(name: string, address: string, folder: string) {
  const etcd = createProgram(folder, 'set -a; . ./etcd; exec etcd');
  const patroni = createProgram(folder, 'exec patroni patroni.yml');
  /** Sends a signal to PostgreSQL and Patroni. SIGSTOP pauses both, as if the machine were paused. */
  const signalDatabase = (signal: Signal): void => {
    patroni.signal(signal);
    try {
      // The main process of PostgreSQL is not a child process of Patroni.
      signalTree(Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]), signal);
    } catch {
      // PostgreSQL is not running.
    }
  };
  return {
    ...{ name, address, etcd, patroni, signalDatabase },
    killDatabase: async () => {
      signalDatabase('SIGKILL');
      await patroni.kill();
    },
    /** Runs patronictl without confirmation prompts. Returns its output. */
    patronictl: (command: string, ...options: string[]) =>
      runSuccessfully('patronictl', ['-c', join(folder, 'patroni.yml'), command, 'garden', '--force', ...options]),
    /** Runs a statement as the superuser. Returns the values. */
    query: (statement: string) => {
      const url = `postgres://postgres:superuser-secret@${address}/postgres`;
      return runSuccessfully('psql', ['--no-psqlrc', '--tuples-only', '--no-align', '--command', statement, url]);
    },
  };
}

type Machine = ReturnType<typeof createMachine>;
type Program = ReturnType<typeof createProgram>;
/** A member of the cluster as Patroni's `GET /cluster` shows it. */
type Member = Record<'name' | 'role' | 'state', string> & { timeline?: number };

/**
 * Copies a file of `deploy/high-availability` to a folder, and replaces what depends on the machine. Turns off the
 * watchdog, which this test cannot use, and removes the HAProxy settings that require root.
 */
async function copyConfiguration(file: string, folder: string, replacements: Record<string, string>): Promise<void> {
  let text = (await readDocument(`deploy/high-availability/${file}`))
    // Clients of any loopback address connect from 127.0.0.1.
    .replaceAll(/10\.0\.[01]\.0\/24/g, '127.0.0.0/8')
    .replaceAll('10.0.0.', '127.77.0.')
    .replaceAll('mode: required', 'mode: off')
    .replaceAll(/^ +(chroot|user|group) .*\n/gm, '');
  for (const [from, to] of Object.entries(replacements)) text = text.replaceAll(from, to);
  await writeFile(join(folder, file), text);
}

/** The cluster in `docs/postgresql.md`, on the loopback interface. It has three machines and two proxies. */
export class Cluster {
  readonly machines: Machine[] = [];
  readonly proxies: Program[] = [];
  /** The connection strings of the Plant Store servers, one for each proxy. */
  readonly urls: string[] = [];

  /**
   * Starts all programs in the order that docs/postgresql.md specifies, and creates the role and the database. The
   * configuration, the data and the logs are written to the empty folder `parent`. `programs` is the folder of
   * PostgreSQL's programs.
   */
  async start(parent: string, programs: string): Promise<void> {
    const page = await readDocument('docs/postgresql.md');
    const url = /DATABASE_URL='(.+)'/.exec(page)?.[1] ?? '';
    for (const [name, address] of Object.entries(machineAddresses)) {
      const folder = await ownedFolder(join(parent, `${name}-`));
      const replacements = {
        MACHINE: name,
        ADDRESS: address,
        '/var/lib/etcd/garden': join(folder, 'etcd-data'),
        '/var/lib/postgresql/15/garden': join(folder, 'data'),
        '/usr/lib/postgresql/15/bin': programs,
        '/var/run/postgresql': folder,
      };
      for (const file of ['etcd', 'patroni.yml']) await copyConfiguration(file, folder, replacements);
      this.machines.push(createMachine(name, address, folder));
    }
    for (const address of proxyAddresses) {
      const folder = await ownedFolder(join(parent, 'haproxy-'));
      await copyConfiguration('haproxy.cfg', folder, { '127.0.0.1': address });
      this.proxies.push(createProgram(folder, 'exec haproxy -db -f haproxy.cfg'));
      this.urls.push(url.replace('127.0.0.1', address));
    }
    for (const { etcd } of this.machines) etcd.start();
    this.machines[0]?.patroni.start();
    await eventually(() => this.leader(), recoveryMs);
    this.startPatroni();
    await this.whenHealthy();
    for (const proxy of this.proxies) proxy.start();
    // Does not connect through HAProxy, because HAProxy considers all machines primaries before its first checks.
    const leader = await this.leader();
    for (const [statement] of page.matchAll(/^ +CREATE .+;$/gm)) await leader.query(statement);
    // For the same reason, a server may connect to a standby first. It exits if the database does not exist there.
    const countDatabases = `SELECT count(*) FROM pg_database WHERE datname = '${new URL(url).pathname.slice(1)}'`;
    for (const { query } of this.machines) await eventuallyEqual(() => query(countDatabases), '1\n', recoveryMs);
  }

  startPatroni(): void {
    for (const { patroni } of this.machines) patroni.start();
  }

  /** Returns the primary. Throws if there is not exactly one leader that Patroni reports as running. */
  async leader(): Promise<Machine> {
    const leaders = (await this.#members()).filter(({ role, state }) => role === 'leader' && state === 'running');
    const leader = this.machines.find(({ name }) => name === leaders[0]?.name);
    if (leader === undefined || leaders.length > 1) throw new Error('The cluster does not have one leader.');
    return leader;
  }

  /** Resolves when the cluster has a leader, a synchronous standby and another standby, all on the same timeline. */
  async whenHealthy(): Promise<void> {
    await eventually(async () => {
      const members = await this.#members();
      const roles = members.map(({ role }) => role).sort();
      const isHealthy =
        roles.join() === 'leader,replica,sync_standby' &&
        members.every(({ state }) => state === 'running' || state === 'streaming') &&
        new Set(members.map(({ timeline }) => timeline)).size === 1;
      if (!isHealthy) throw new Error(`The cluster is not healthy: ${JSON.stringify(members)}`);
    }, recoveryMs);
  }

  async kill(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.kill()));
    await Promise.all(this.machines.flatMap((machine) => [machine.killDatabase(), machine.etcd.kill()]));
  }

  /** Requests the cluster's state from all machines, because some may be stopped. Returns the first response. */
  async #members(): Promise<Member[]> {
    await sleep(300);
    const responses = this.machines.map(async ({ address }) => {
      const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(10_000) });
      return ((await response.json()) as { members: Member[] }).members;
    });
    return Promise.any(responses);
  }
}
