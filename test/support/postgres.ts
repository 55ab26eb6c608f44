import assert from 'node:assert/strict';
import { appendFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import type { PoolConfig } from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';
import { ownedFolder, spawnPostgres, writeOwnedFile } from './postgres-binaries.ts';
import { processTree, signalTree } from './process-tree.ts';
import { finish, runSuccessfully } from './run-program.ts';
import { untilListening } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import type { HasAfter } from './temporary-folder.ts';

/** Counts the databases and tables of this process, so that each has a unique name. */
let nameCount = 0;

/** A PostgreSQL server, with its data in a temporary folder. */
export class PostgresCluster {
  readonly port: number;
  readonly #folder: string;
  #server: ServerProcess | undefined;

  /** Call {@link PostgresCluster.start} instead. */
  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  /**
   * Creates an empty cluster and starts it. With `checksPassword`, the server accepts only the password in `url`.
   * Without `fsync`, tests are faster: they kill processes, but not the machine.
   */
  static async start({ checksPassword = false, fsync = false } = {}): Promise<PostgresCluster> {
    const folder = await ownedFolder();
    const passwordFile = join(folder, 'password');
    await writeOwnedFile(passwordFile, 'sesame');
    const auth = checksPassword ? ['--auth', 'scram-sha-256', '--pwfile', passwordFile] : ['--auth', 'trust'];
    const options = ['--username', 'postgres', '--encoding', 'UTF8', '--locale', 'C', '--no-sync'];
    const args = ['--pgdata', join(folder, 'data'), ...options, ...auth];
    const { code, stderr } = await finish(await spawnPostgres('initdb', args));
    assert.equal(code, 0, stderr);
    const cluster = new PostgresCluster(folder, await freePort());
    await cluster.configure(["listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", 'max_connections = 60']);
    await cluster.configure([`fsync = ${fsync ? 'on' : 'off'}`]);
    await cluster.restart();
    return cluster;
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  /** Returns a connection string, with a password. */
  url(database = 'postgres'): string {
    return `postgres://postgres:sesame@127.0.0.1:${this.port}/${database}`;
  }

  /** Adds lines to postgresql.conf, which the server reads at the next start. */
  async configure(lines: readonly string[]): Promise<void> {
    await appendFile(join(this.#data, 'postgresql.conf'), `${lines.join('\n')}\n`);
  }

  /** Starts the server, for example after it was stopped or killed. Resolves when the server accepts connections. */
  async restart(): Promise<void> {
    // After the server was killed, its shared memory might still exist for a moment.
    await eventually(async () => {
      await this.#launch();
    }, 60_000);
    await eventually(() => this.query('SELECT 1'), 60_000);
  }

  async #launch(): Promise<void> {
    const child = await spawnPostgres('postgres', ['-D', this.#data, '-p', String(this.port)]);
    this.#server = await untilListening({ after: () => undefined }, child, /127\.0\.0\.1", port (\d+)/);
  }

  /** Returns the CPU time that all server processes have used, in microseconds. */
  async cpuMicros(): Promise<number> {
    const pid = this.#server?.pid ?? 0;
    const running = await Promise.all(processTree(pid).map(runningMicros));
    // Fields 16 and 17 contain the CPU time of the ended child processes, in ticks of 10 ms. The name in field 2 can
    // contain spaces.
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
    const endedMicros = (Number(fields[13]) + Number(fields[14])) * 10_000;
    return running.reduce((sum, micros) => sum + micros, endedMicros);
  }

  /** Stops the server with SIGINT. The server closes all connections and keeps all committed data. */
  async stop(): Promise<void> {
    await this.#server?.stop('SIGINT');
    this.#server = undefined;
  }

  /** Kills all processes of the server, which simulates a power failure. */
  async kill(): Promise<void> {
    if (this.#server === undefined) return;
    signalTree(this.#server.pid, 'SIGKILL');
    await this.#server.stop('SIGKILL');
    this.#server = undefined;
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.queryAt(this.url(), text, values);
  }

  async queryAt(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    // If the server stops, `connect` or `query` rejects.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Returns a pool of connections to this server. The pool is ended after the test. */
  pool(t: HasAfter, config: PoolConfig = {}): Pool {
    return poolOf(t, { connectionString: this.url(), ...config });
  }

  /** Creates an empty database and returns its connection string. `locale` contains CREATE DATABASE options. */
  async makeDatabase(locale = ''): Promise<string> {
    const name = `plants_${++nameCount}`;
    await this.query(`CREATE DATABASE ${name} TEMPLATE template0 ${locale}`);
    return this.url(name);
  }

  /** Returns the number of connections to the database that a connection string names. */
  async connections(url: string): Promise<number> {
    const database = new URL(url).pathname.slice(1);
    return (await this.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])).length;
  }

  /** Returns the name of a table that does not exist yet. */
  newTable(): string {
    return `plants ${++nameCount}`;
  }

  /** Creates a standby. After this call, the server acknowledges a commit only when the standby also has the commit. */
  async startSynchronousStandby(): Promise<PostgresCluster> {
    const folder = await ownedFolder();
    const standby = new PostgresCluster(folder, await freePort());
    const client = new Client({ connectionString: this.url() });
    await client.connect();
    await client.query("SELECT pg_backup_start('standby', true)");
    await runSuccessfully('cp', ['-a', this.#data, standby.#data]);
    const {
      rows: [label],
    } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await client.end();
    await rm(join(standby.#data, 'postmaster.pid'), { force: true });
    await writeOwnedFile(join(standby.#data, 'backup_label'), label?.labelfile ?? '');
    await writeOwnedFile(join(standby.#data, 'standby.signal'), '');
    await standby.configure([
      `primary_conninfo = 'host=127.0.0.1 port=${this.port} user=postgres application_name=standby'`,
    ]);
    try {
      await standby.restart();
    } catch (error) {
      await standby.remove();
      throw error;
    }

    await this.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await this.query('SELECT pg_reload_conf()');
    await eventually(async () => {
      const [replica] = await this.query('SELECT sync_state FROM pg_stat_replication');
      assert.equal(replica?.['sync_state'], 'sync');
    }, 60_000);
    return standby;
  }

  /** Promotes a standby to a primary. Resolves when the new primary accepts writes. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()');
  }
}

/** Returns a pool of connections that is ended after the test. The loss of an idle connection is ignored. */
export function poolOf(t: HasAfter, config: PoolConfig): Pool {
  const pool = new Pool({ connectionTimeoutMillis: 30_000, ...config });
  pool.on('error', () => undefined);
  t.after(() => pool.end());
  return pool;
}

/** Returns the CPU time of a process, in microseconds; 0 if it has ended. */
async function runningMicros(pid: number): Promise<number> {
  const nanoseconds = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
  return Number(nanoseconds.split(' ')[0]) / 1000;
}
