import { readFileSync } from 'node:fs';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { signalTree } from '../support/process-tree.ts';
import { LoggedProcess, owner } from './logged-process.ts';
import { adapt, pagePorts } from './page.ts';
import type { PageConfiguration } from './page.ts';

/** The absolute paths of the programs. */
export type Programs = Readonly<Record<'etcd' | 'haproxy' | 'patroni' | 'postgres', string>>;

/** A database machine of the page. Its etcd, Patroni and PostgreSQL use their own loopback address. */
export interface Machine {
  readonly name: string;
  readonly etcd: LoggedProcess;
  readonly patroni: LoggedProcess;
  /** The URL of Patroni's REST API. */
  readonly api: string;
  /** The address and port of PostgreSQL. */
  readonly database: string;
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

/** The names of the page, and the addresses that replace those of the page. */
const addresses = { pg1: '127.77.0.11', pg2: '127.77.0.12', pg3: '127.77.0.13' };
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

/** Sends a request to Patroni that changes the cluster. */
export async function requestPatroni(method: string, url: string, body: object, withinMs = 10_000): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Basic ${btoa('patroni:api-secret')}` };
  const signal = AbortSignal.timeout(withinMs);
  const response = await fetch(url, { method, headers, body: JSON.stringify(body), signal });
  if (response.status !== 200) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
}

/** The cluster in `docs/postgresql.md`, on the loopback interface. It has three machines and two proxies. */
export class Cluster {
  readonly machines: Machine[] = [];
  readonly proxies: Proxy[] = [];
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes all configuration files to an empty folder, adapted to this machine. Does not start any program. */
  static async prepare(folder: string, programs: Programs, page: PageConfiguration): Promise<Cluster> {
    const cluster = new Cluster(folder);
    if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
    const ports = new Map<number, number>();
    // These ports are free on all loopback addresses.
    for (const port of Object.values(pagePorts)) ports.set(port, await freePort('0.0.0.0'));
    for (const [name, address] of Object.entries(addresses)) {
      await cluster.#addMachine(name, address, ports, programs, page);
    }
    for (const name of ['haproxy1', 'haproxy2']) {
      const proxyPorts = new Map([...ports, [pagePorts.proxy, await freePort('0.0.0.0')]]);
      const replacements = { name, address: '127.0.0.1', ports: proxyPorts, paths: {} };
      const config = join(folder, `${name}.cfg`);
      await writeFile(config, adapt(page.haproxy, replacements));
      const command = [programs.haproxy, '-db', '-f', config] as const;
      const process = new LoggedProcess(command, await cluster.#makeFolder(name));
      cluster.proxies.push({ process, storage: adapt(page.storage, replacements) });
    }
    return cluster;
  }

  async #makeFolder(name: string): Promise<string> {
    const folder = join(this.#folder, name);
    await mkdir(folder, { mode: 0o700 });
    if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
    return folder;
  }

  async #addMachine(
    name: string,
    address: string,
    ports: ReadonlyMap<number, number>,
    programs: Programs,
    page: PageConfiguration,
  ): Promise<void> {
    const etcd = await this.#makeFolder(`${name}-etcd`);
    const patroni = await this.#makeFolder(`${name}-patroni`);
    const data = join(patroni, 'data');
    const paths = {
      '/var/lib/etcd/garden': join(etcd, 'data'),
      '/var/lib/postgresql/15/garden': data,
      '/usr/lib/postgresql/15/bin': dirname(programs.postgres),
      '/var/run/postgresql': patroni,
    };
    const replacements = { name, address, ports, paths };
    await writeFile(join(patroni, 'config.yml'), adapt(page.patroni, replacements));
    const lines = adapt(page.etcd, replacements).matchAll(/^(ETCD_\w+)=(.+)$/gm);
    const environment = Object.fromEntries(Array.from(lines, ([, key = '', value = '']) => [key, value]));
    this.machines.push({
      name,
      etcd: new LoggedProcess([programs.etcd], etcd, environment),
      patroni: new LoggedProcess([programs.patroni, join(patroni, 'config.yml')], patroni),
      api: `http://${address}:${ports.get(pagePorts.patroni) ?? 0}`,
      database: `${address}:${ports.get(pagePorts.postgres) ?? 0}`,
      data,
    });
  }

  /** Starts all programs in the order that the page specifies, and creates the role and the database. */
  async start({ statements }: PageConfiguration): Promise<void> {
    for (const { etcd } of this.machines) etcd.start();
    const [first, ...others] = this.machines;
    first?.patroni.start();
    await eventually(() => this.leader(), setUpMs);
    for (const { patroni } of others) patroni.start();
    await this.whenHealthy(setUpMs);
    for (const { process: proxy } of this.proxies) proxy.start();
    // Does not connect through HAProxy, because HAProxy considers all machines primaries before its first checks.
    const { database } = await this.leader();
    for (const statement of statements) await query(database, statement);
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

  /** Sets `synchronous_commit` on all machines, or restores the default if the value is `null`. */
  async setSynchronousCommit(value: 'local' | null): Promise<void> {
    const { api, database } = await this.leader();
    const settings = { postgresql: { parameters: { synchronous_commit: value } } };
    await requestPatroni('PATCH', `${api}/config`, settings);
    await eventually(async () => {
      const current = await query(database, "SELECT current_setting('synchronous_commit') AS value");
      if (current !== (value ?? 'on')) throw new Error('synchronous_commit has not changed.');
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
    const responses = this.machines.map(async ({ api }) => {
      const response = await fetch(`${api}/cluster`, { signal: AbortSignal.timeout(2000) });
      return ((await response.json()) as { members: Member[] }).members;
    });
    return Promise.any(responses);
  }
}

/** Runs a statement as the superuser. Returns the column `value` of the first row. */
async function query(database: string, statement: string): Promise<unknown> {
  const connectionString = `postgres://postgres:superuser-secret@${database}/postgres`;
  const client = new Client({ connectionString, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<{ value?: unknown }>(statement)).rows[0]?.value;
  } finally {
    await client.end();
  }
}
