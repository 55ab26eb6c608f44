import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostgresCluster } from '../support/postgres.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import {
  fillPostgres,
  fillSqlite,
  numberedUsers,
  plantNumber,
  tokenMap,
  tokenOf,
  wholeUser,
  writeTokenFile,
} from './data-set.ts';
import { runLoad } from './generator.ts';
import { bareName } from './rounds.ts';
import { createExchange } from './workloads.ts';

/** The resources that a server has used, as report-usage.js reports them. */
interface Usage {
  /** The user and system time of all threads since the process started, in microseconds. */
  readonly cpuMicros: number;
  /** The largest resident memory of the process so far. */
  readonly peakMiB: number;
  /** The 99th percentile of the event loop's delay since the previous report, in milliseconds. */
  readonly loopDelayMs: number;
}

/** A running server in its own process. */
export interface Server {
  readonly port: number;
  usage(): Promise<Usage>;
  stop(): Promise<unknown>;
}

/** A server that can be measured. */
export interface Candidate {
  readonly name: string;
  /** The name of the candidate that has the same storage and runs the build in this checkout. */
  readonly base: string;
  /** Starts the server with its own copy of the data. */
  readonly start: () => Promise<Server>;
}

export const ownName = 'Plant Store, SQLite';
export const memoryName = 'Plant Store, memory';
export const threadName = 'Plant Store, SQLite, commitThread';
export const postgresName = 'Plant Store, PostgreSQL';
export const fastifyName = 'Fastify + better-sqlite3';
export const fastifyPgName = 'Fastify + pg';
/** The servers with a disk whose fsync takes 10 ms longer. */
export const slow = (name: string): string => `${name}, slow disk`;

/** The build's command line program. */
function programOf(folder: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  const program = resolve(folder, bin['plant-store'] ?? '');
  if (!existsSync(program)) throw new Error(`${program} is missing. Run 'npm ci && npm run build' in ${folder}.`);
  return program;
}

/** Starts servers with a million plants, whose files are in a folder. */
export class Servers {
  readonly #folder: string;
  readonly #tokens: string;
  readonly #lists: string;
  #files = 0;
  #cluster: PostgresCluster | undefined;
  #slowDisk: NodeJS.ProcessEnv | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#tokens = join(folder, 'tokens.json');
    this.#lists = join(folder, 'lists.json');
  }

  static async create(folder: string): Promise<Servers> {
    const servers = new Servers(folder);
    await writeTokenFile(servers.#tokens);
    const list = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => plantNumber(n + 1)));
    const lists = { 20: list(20), 1000: list(1000), all: list(numberedUsers[wholeUser]) };
    writeFileSync(servers.#lists, JSON.stringify(lists));
    return servers;
  }

  /** Returns all candidates. `others` are the folders of other builds; with such builds, the peers are omitted. */
  candidates(others: readonly string[]): Candidate[] {
    const builds = [root, ...others].map((folder) => ({ folder, program: programOf(folder) }));
    const own = (base: string, start: (args: string[]) => Promise<Server>): Candidate[] =>
      builds.map(({ folder, program }, n) => ({
        name: n === 0 ? base : `${base} (against ${folder})`,
        base,
        start: () =>
          start([program, 'serve', '--port', '0', '--log-level', 'error', '--tokens', this.#tokens, '--storage']),
      }));
    const peer = (name: string, file: string, start: (args: string[]) => Promise<Server>): Candidate[] =>
      others.length > 0 ? [] : [{ name, base: name, start: () => start([`test/bench/peers/${file}.js`]) }];
    const bare = ['test/bench/peers/bare-node-http.js', this.#lists];
    return [
      { name: bareName, base: bareName, start: () => this.#spawn(bare) },
      ...own(memoryName, (args) => this.#inMemory(args)),
      ...own(ownName, (args) => this.#onSqlite(args, 'sqlite:')),
      ...own(threadName, (args) => this.#onSqlite(args, 'sqlite:', '?commitThread=true')),
      ...own(postgresName, (args) => this.#onPostgres(args)),
      ...peer(fastifyName, 'fastify', (args) => this.#onSqlite(args)),
      ...peer(fastifyPgName, 'fastify', (args) => this.#onPostgres(args)),
      ...own(slow(ownName), (args) => this.#onSqlite(args, 'sqlite:', '', this.#slowSync())),
      ...own(slow(threadName), (args) => this.#onSqlite(args, 'sqlite:', '?commitThread=true', this.#slowSync())),
      ...peer(slow(fastifyName), 'fastify', (args) => this.#onSqlite(args, '', '', this.#slowSync())),
    ];
  }

  /** Returns the CPU time that all PostgreSQL processes have used, in microseconds. */
  async databaseMicros(): Promise<number> {
    return (await this.#cluster?.cpuMicros()) ?? 0;
  }

  async stop(): Promise<void> {
    await this.#cluster?.remove();
  }

  async #inMemory(args: string[]): Promise<Server> {
    const server = await this.#spawn([...args, 'memory']);
    for (const [user, count] of Object.entries(numberedUsers)) {
      let n = 0;
      const next = () => (n++ < count ? createExchange(user, n, plantNumber(n)) : undefined);
      await runLoad({ port: server.port, connections: 64, next });
    }
    return server;
  }

  /** Starts the server twice, so that it creates its table itself. */
  async #onSqlite(args: string[], before = '', after = '', env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const path = join(this.#folder, `${++this.#files}.db`);
    await (await this.#spawn([...args, before + path])).stop();
    fillSqlite(path);
    return this.#spawn([...args, before + path + after], env);
  }

  async #onPostgres(args: string[]): Promise<Server> {
    this.#cluster ??= await PostgresCluster.start();
    const url = await this.#cluster.makeDatabase();
    const server = await this.#spawn([...args, url]);
    // The server creates its table when it handles the first request.
    const headers = { authorization: `Bearer ${tokenOf(wholeUser)}` };
    await fetch(`http://127.0.0.1:${server.port}/plants?limit=1`, { headers });
    await fillPostgres(url);
    return server;
  }

  /** Compiles a library that delays each fsync. Returns the environment variables with which a process preloads it. */
  #slowSync(): NodeJS.ProcessEnv {
    const library = join(this.#folder, 'slow-sync.so');
    const compile = ['-shared', '-fPIC', '-o', library, join(root, 'test/bench/slow-sync.c'), '-ldl'];
    if (this.#slowDisk === undefined) execFileSync('cc', compile, { stdio: 'inherit' });
    return (this.#slowDisk = { LD_PRELOAD: library });
  }

  /** Runs a Node.js program in the root folder of the project, and waits until the program prints its URL. */
  async #spawn(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const reportUsage = fileURLToPath(new URL('report-usage.js', import.meta.url));
    const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production', BENCH_TOKENS: tokenMap(), ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    // No clean-up is necessary, because report-usage.js ends the server when this process ends.
    const { port, stop } = await untilListening({ after: () => undefined }, child, /(http:\/\/\S+?)\/?\n/);
    return {
      port,
      stop,
      usage: async () => {
        const reported = once(child, 'message') as Promise<[Usage]>;
        child.send('usage');
        return (await reported)[0];
      },
    };
  }
}
