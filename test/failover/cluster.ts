import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { DatabaseMachine } from './database-machine.ts';
import { LoggedProcess, owner } from './logged-process.ts';
import { adapt, machines, pagePorts } from './page.ts';
import type { PageConfiguration } from './page.ts';
import type { Programs } from './requirements.ts';

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

const setUpMs = 120_000;
/** How long Patroni may take to apply a setting. On the page, Patroni's `loop_wait` is 10 seconds. */
const reloadMs = 30_000;
/** The pause before each request for the cluster's state. */
const pollMs = 300;
const proxyCount = 2;

/** The cluster in `docs/postgresql.md`, on the loopback interface. It has three machines and two proxies. */
export class Cluster {
  readonly machines: readonly DatabaseMachine[];
  readonly proxies: readonly Proxy[];

  private constructor(databaseMachines: readonly DatabaseMachine[], proxies: readonly Proxy[]) {
    this.machines = databaseMachines;
    this.proxies = proxies;
  }

  /** Writes all configuration files to an empty folder. Does not start any program. */
  static async prepare(folder: string, programs: Programs, page: PageConfiguration): Promise<Cluster> {
    if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
    const ports = new Map<number, number>();
    // These ports are free on all loopback addresses.
    for (const port of Object.values(pagePorts)) ports.set(port, await freePort('0.0.0.0'));
    const databaseMachines: DatabaseMachine[] = [];
    for (const machine of machines) {
      databaseMachines.push(await DatabaseMachine.prepare({ ...machine, folder, programs, page, ports }));
    }
    const proxies: Proxy[] = [];
    for (let number = 1; number <= proxyCount; number++) {
      const name = `haproxy${number}`;
      const proxyPorts = new Map([...ports, [pagePorts.proxy, await freePort('0.0.0.0')]]);
      const replacements = { name, address: '127.0.0.1', ports: proxyPorts, paths: new Map<string, string>() };
      const config = join(folder, `${name}.cfg`);
      await writeFile(config, adapt(page.haproxy, replacements));
      const log = join(folder, `${name}.log`);
      proxies.push({
        process: new LoggedProcess({ command: programs.haproxy, args: ['-db', '-f', config], folder, log }),
        storage: adapt(page.storage, replacements),
      });
    }
    return new Cluster(databaseMachines, proxies);
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
    await runStatements(database, statements);
  }

  /** Returns the primary. Throws if there is not exactly one leader that Patroni reports as running. */
  async leader(): Promise<DatabaseMachine> {
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
    const response = await fetch(`${api}/config`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Basic ${btoa('patroni:api-secret')}` },
      body: JSON.stringify({ postgresql: { parameters: { synchronous_commit: value } } }),
    });
    if (response.status !== 200) throw new Error(`PATCH /config: ${response.status} ${await response.text()}`);
    await eventually(async () => {
      const [row] = await runStatements(database, ["SELECT current_setting('synchronous_commit') AS value"]);
      if (row?.['value'] !== (value ?? 'on')) throw new Error('synchronous_commit has not changed.');
    }, reloadMs);
  }

  /** Kills every process of the cluster. */
  async kill(): Promise<void> {
    await Promise.all([
      ...this.proxies.map(({ process: proxy }) => proxy.kill()),
      ...this.machines.flatMap((machine) => [machine.killDatabase(), machine.etcd.kill()]),
    ]);
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

/** Runs statements as the superuser. Returns the rows of the last statement. */
async function runStatements(database: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const connectionString = `postgres://postgres:superuser-secret@${database}/postgres`;
  const client = new Client({ connectionString, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
