import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDocument } from '../support/documents.ts';
import { eventually, eventuallyEqual } from '../support/eventually.ts';
import { ownedFolder } from '../support/postgres.ts';
import { signalTree } from '../support/process-tree.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { LoggedProcess } from './logged-process.ts';

/** A database machine of the page. Its etcd, Patroni and PostgreSQL use their own loopback address. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly etcd: LoggedProcess;
  readonly patroni: LoggedProcess;
  readonly configuration: string;
  readonly data: string;
}

/** A member of the cluster as Patroni's `GET /cluster` shows it. */
type Member = Record<'name' | 'role' | 'state', string> & { timeline?: number };

/** The addresses that replace those of the page. */
const machineAddresses = { pg1: '127.77.0.11', pg2: '127.77.0.12', pg3: '127.77.0.13' };
const proxyAddresses = { haproxy1: '127.77.0.1', haproxy2: '127.77.0.2' };
/** How long a slow machine may take until the cluster has a leader and two standbys. */
const recoveryMs = 300_000;
/** How long Patroni may take to apply a setting. On the page, Patroni's `loop_wait` is 10 seconds. */
const reloadMs = 120_000;

/** Sends a signal to a machine's PostgreSQL and Patroni. SIGSTOP pauses both, as if the machine were paused. */
export function signalDatabase({ patroni, data }: Machine, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  if (patroni.pid !== undefined) signalTree(patroni.pid, signal);
  try {
    // The main process of PostgreSQL is not a child process of Patroni.
    signalTree(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), signal);
  } catch {
    // PostgreSQL is not running.
  }
}

export async function killDatabase(machine: Machine): Promise<void> {
  signalDatabase(machine, 'SIGKILL');
  await machine.patroni.kill();
}

/** Runs a command of patronictl without its questions. Returns its output. */
export function runPatronictl({ configuration }: Machine, command: string, ...options: string[]): Promise<string> {
  return runSuccessfully('patronictl', ['-c', configuration, command, 'garden', '--force', ...options]);
}

/** Runs a statement as the superuser. Returns the values. */
function query({ address }: Machine, statement: string): Promise<string> {
  const url = `postgres://postgres:superuser-secret@${address}/postgres`;
  return runSuccessfully('psql', ['--no-psqlrc', '--tuples-only', '--no-align', '--command', statement, url]);
}

/**
 * Copies a file of `deploy/high-availability` to a folder, and replaces what depends on the machine. Turns off the
 * watchdog, which this test cannot use, and removes the HAProxy settings that require root. Returns the copy's path.
 */
async function copyConfiguration(file: string, folder: string, replacements: Record<string, string>): Promise<string> {
  let text = (await readDocument(`deploy/high-availability/${file}`))
    // Clients of any loopback address connect from 127.0.0.1.
    .replaceAll(/10\.0\.[01]\.0\/24/g, '127.0.0.0/8')
    .replaceAll('10.0.0.', '127.77.0.')
    .replaceAll('mode: required', 'mode: off')
    .replaceAll(/^ +(chroot|user|group) .*\n/gm, '');
  for (const [from, to] of Object.entries(replacements)) text = text.replaceAll(from, to);
  const path = join(folder, file);
  await writeFile(path, text);
  return path;
}

async function createMachine(name: string, address: string, folder: string, programs: string): Promise<Machine> {
  const data = join(folder, 'data');
  const replacements = {
    MACHINE: name,
    ADDRESS: address,
    '/var/lib/etcd/garden': join(folder, 'etcd-data'),
    '/var/lib/postgresql/15/garden': data,
    '/usr/lib/postgresql/15/bin': programs,
    '/var/run/postgresql': folder,
  };
  const environment = await copyConfiguration('etcd', folder, replacements);
  const etcd = new LoggedProcess(folder, 'etcd', ['sh', '-c', `set -a; . ${environment}; exec etcd`]);
  const configuration = await copyConfiguration('patroni.yml', folder, replacements);
  const patroni = new LoggedProcess(folder, 'patroni', ['patroni', configuration]);
  return { name, address, etcd, patroni, configuration, data };
}

/** The cluster in `docs/postgresql.md`, on the loopback interface. It has three machines and two proxies. */
export class Cluster {
  readonly machines: Machine[] = [];
  readonly proxies: LoggedProcess[] = [];
  /** The connection strings of the Plant Store servers, one for each proxy. */
  readonly urls: string[] = [];

  /**
   * Starts all programs in the order that the page specifies, and creates the role and the database. The configuration,
   * the data and the logs are written to the empty folder `parent`. `programs` is the folder of PostgreSQL's programs.
   */
  async start(parent: string, programs: string): Promise<void> {
    const page = await readDocument('docs/postgresql.md');
    const url = /DATABASE_URL='(.+)'/.exec(page)?.[1] ?? '';
    for (const [name, address] of Object.entries(machineAddresses)) {
      this.machines.push(await createMachine(name, address, await ownedFolder(join(parent, `${name}-`)), programs));
    }
    for (const [name, address] of Object.entries(proxyAddresses)) {
      const folder = await ownedFolder(join(parent, `${name}-`));
      const file = await copyConfiguration('haproxy.cfg', folder, { '127.0.0.1': address });
      this.proxies.push(new LoggedProcess(folder, 'haproxy', ['haproxy', '-db', '-f', file]));
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
    for (const [statement] of page.matchAll(/^ +CREATE .+;$/gm)) await query(leader, statement);
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

  /** Makes all machines acknowledge a commit before a standby has it. */
  async acknowledgeEarly(): Promise<void> {
    const leader = await this.leader();
    await runPatronictl(leader, 'edit-config', '--pg', 'synchronous_commit=local');
    await eventuallyEqual(() => query(leader, 'SHOW synchronous_commit'), 'local\n', reloadMs);
  }

  async kill(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.kill()));
    await Promise.all(this.machines.flatMap((machine) => [killDatabase(machine), machine.etcd.kill()]));
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
