import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDocument } from '../support/documents.ts';
import { eventually } from '../support/eventually.ts';
import { ownedFolder } from '../support/postgres-binaries.ts';
import { poolOf } from '../support/postgres.ts';
import { signalTree } from '../support/process-tree.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { LoggedProcess } from './logged-process.ts';

/** A database machine of the page. Its etcd, Patroni and PostgreSQL use their own loopback address. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly etcd: LoggedProcess;
  readonly patroni: LoggedProcess;
  /** The data folder of PostgreSQL. */
  readonly data: string;
}

/** An HAProxy process, and the connection string of the Plant Store server that uses it. */
interface Proxy {
  readonly process: LoggedProcess;
  readonly storage: string;
}

/** A member of the cluster as Patroni's `GET /cluster` shows it. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

/** The addresses that replace those of the page. */
const machineAddresses = { pg1: '127.77.0.11', pg2: '127.77.0.12', pg3: '127.77.0.13' };
const proxyAddresses = { haproxy1: '127.77.0.1', haproxy2: '127.77.0.2' };
const setUpMs = 120_000;
/** How long Patroni may take to apply a setting. On the page, Patroni's `loop_wait` is 10 seconds. */
const reloadMs = 30_000;
/** The pause before each request for the cluster's state. */
const pollMs = 300;

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

/** Kills PostgreSQL and Patroni at the same time. */
export async function killDatabase(machine: Machine): Promise<void> {
  signalDatabase(machine, 'SIGKILL');
  await machine.patroni.kill();
}

/** Sends a request that changes the cluster to a machine's Patroni. */
export async function requestPatroni(
  { address }: Machine,
  method: string,
  path: string,
  body: object,
  withinMs = 10_000,
): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('patroni:api-secret')}` };
  const signal = AbortSignal.timeout(withinMs);
  const response = await fetch(`http://${address}:8008${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
    signal,
  });
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}

/** Runs a statement as the superuser. Returns the column `value` of the first row. */
async function query({ address }: Machine, statement: string): Promise<unknown> {
  await using cleanUp = new CleanUp();
  const pool = poolOf(cleanUp, { connectionString: `postgres://postgres:superuser-secret@${address}/postgres` });
  return (await pool.query<{ value?: unknown }>(statement)).rows[0]?.value;
}

/**
 * Copies a file of `deploy/high-availability` to a folder, and replaces what depends on the machine. Turns off the
 * watchdog, because this test cannot use one. Removes the HAProxy settings that require root privileges. Returns the
 * path of the copy.
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

/** The cluster in `docs/postgresql.md`, on the loopback interface. It has three machines and two proxies. */
export class Cluster {
  readonly machines: Machine[] = [];
  readonly proxies: Proxy[] = [];
  readonly #folder: string;
  readonly #postgres: string;

  /**
   * The configuration, the data and the logs of all programs are written to the empty folder `folder`. `postgres` is
   * the folder of PostgreSQL's programs.
   */
  constructor(folder: string, postgres: string) {
    this.#folder = folder;
    this.#postgres = postgres;
  }

  /** Starts all programs in the order that the page specifies, and creates the role and the database. */
  async start(): Promise<void> {
    const page = await readDocument('docs/postgresql.md');
    const storage = /DATABASE_URL='(.+)'/.exec(page)?.[1] ?? '';
    for (const [name, address] of Object.entries(machineAddresses)) await this.#addMachine(name, address);
    for (const [name, address] of Object.entries(proxyAddresses)) await this.#addProxy(name, address, storage);
    for (const { etcd } of this.machines) etcd.start();
    this.machines[0]?.patroni.start();
    await eventually(() => this.leader(), setUpMs);
    this.startPatroni();
    await this.whenHealthy(setUpMs);
    for (const { process: proxy } of this.proxies) proxy.start();
    // Does not connect through HAProxy, because HAProxy considers all machines primaries before its first checks.
    const leader = await this.leader();
    for (const [statement] of page.matchAll(/^ +CREATE .+;$/gm)) await query(leader, statement);
  }

  async #addMachine(name: string, address: string): Promise<void> {
    const folder = await ownedFolder(join(this.#folder, `${name}-`));
    const data = join(folder, 'data');
    const replacements = {
      MACHINE: name,
      ADDRESS: address,
      '/var/lib/etcd/garden': join(folder, 'etcd-data'),
      '/var/lib/postgresql/15/garden': data,
      '/usr/lib/postgresql/15/bin': this.#postgres,
      '/var/run/postgresql': folder,
    };
    const environment = await copyConfiguration('etcd', folder, replacements);
    const etcd = new LoggedProcess(folder, 'etcd', ['sh', '-c', `set -a; . ${environment}; exec etcd`]);
    const file = await copyConfiguration('patroni.yml', folder, replacements);
    const patroni = new LoggedProcess(folder, 'patroni', ['patroni', file]);
    this.machines.push({ name, address, etcd, patroni, data });
  }

  async #addProxy(name: string, address: string, storage: string): Promise<void> {
    const folder = await ownedFolder(join(this.#folder, `${name}-`));
    const file = await copyConfiguration('haproxy.cfg', folder, { '127.0.0.1': address });
    const process = new LoggedProcess(folder, 'haproxy', ['haproxy', '-db', '-f', file]);
    this.proxies.push({ process, storage: storage.replace('127.0.0.1', address) });
  }

  /** Starts each Patroni that is not running. */
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

  /**
   * Resolves when the cluster has a leader, a synchronous standby and another standby, all on the same timeline.
   * Rejects after `withinMs` milliseconds.
   */
  async whenHealthy(withinMs: number): Promise<void> {
    await eventually(async () => {
      const members = await this.#members();
      const roles = members.map(({ role }) => role).sort();
      const isHealthy =
        roles.join() === 'leader,replica,sync_standby' &&
        members.every(({ state }) => state === 'running' || state === 'streaming') &&
        new Set(members.map(({ timeline }) => timeline)).size === 1;
      if (!isHealthy) throw new Error(`The cluster is not healthy: ${JSON.stringify(members)}`);
    }, withinMs);
  }

  /** Makes all machines acknowledge a commit before a standby has it. */
  async acknowledgeEarly(): Promise<void> {
    const leader = await this.leader();
    const settings = { postgresql: { parameters: { synchronous_commit: 'local' } } };
    await requestPatroni(leader, 'PATCH', '/config', settings);
    await eventually(async () => {
      const current = await query(leader, "SELECT current_setting('synchronous_commit') AS value");
      if (current !== 'local') throw new Error('synchronous_commit has not changed.');
    }, reloadMs);
  }

  /** Kills every process of the cluster. */
  async kill(): Promise<void> {
    await Promise.all(this.proxies.map(({ process: proxy }) => proxy.kill()));
    await Promise.all(this.machines.flatMap((machine) => [killDatabase(machine), machine.etcd.kill()]));
  }

  /** Requests the cluster's state from all machines, because some may be stopped. Returns the first response. */
  async #members(): Promise<readonly Member[]> {
    await sleep(pollMs);
    const responses = this.machines.map(async ({ address }) => {
      const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2000) });
      return ((await response.json()) as { members: Member[] }).members;
    });
    return Promise.any(responses);
  }
}
