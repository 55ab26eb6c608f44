import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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

export const ownName = 'Plant Store, SQLite';
export const memoryName = 'Plant Store, memory';
export const threadName = 'Plant Store, SQLite, commitThread';
export const postgresName = 'Plant Store, PostgreSQL';
export const fastifyName = 'Fastify + better-sqlite3';
export const fastifyPgName = 'Fastify + pg';
/** The servers with a disk whose fsync takes 10 ms longer. */
export const slow = (name: string): string => `${name}, slow disk`;

interface Kind {
  readonly name: string;
  /** By default, Plant Store. */
  readonly peer?: 'bare-node-http' | 'fastify';
  readonly storage: 'none' | 'memory' | 'sqlite' | 'postgres';
  /** What follows the path in the storage setting. */
  readonly query?: string;
  readonly isSlow?: boolean;
}

/** A server that can be measured. */
export interface Candidate extends Kind {
  /** The name of the candidate that has the same storage and runs the build in this checkout. */
  readonly base: string;
  /** The folder of the build. */
  readonly folder: string;
}

const onSqlite: readonly Kind[] = [
  { name: ownName, storage: 'sqlite' },
  { name: threadName, storage: 'sqlite', query: '?commitThread=true' },
  { name: fastifyName, storage: 'sqlite', peer: 'fastify' },
];
const kinds: readonly Kind[] = [
  { name: bareName, storage: 'none', peer: 'bare-node-http' },
  { name: memoryName, storage: 'memory' },
  ...onSqlite,
  { name: postgresName, storage: 'postgres' },
  { name: fastifyPgName, storage: 'postgres', peer: 'fastify' },
  ...onSqlite.map((kind) => ({ ...kind, name: slow(kind.name), isSlow: true })),
];

/** Returns all candidates. `others` are the folders of other builds; with such builds, Fastify is omitted. */
export function listCandidates(others: readonly string[]): Candidate[] {
  const shown = kinds.filter(({ peer }) => others.length === 0 || peer !== 'fastify');
  return shown.flatMap((kind) => [
    { ...kind, base: kind.name, folder: root },
    ...(kind.peer === undefined ? others : []).map((folder) => ({
      ...kind,
      name: `${kind.name} (against ${folder})`,
      base: kind.name,
      folder,
    })),
  ]);
}

/** Starts servers with a million plants, whose files are in a folder. */
export class Servers {
  readonly #folder: string;
  readonly #tokens: string;
  #files = 0;
  #cluster: PostgresCluster | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#tokens = join(folder, 'tokens.json');
    writeTokenFile(this.#tokens);
  }

  async start({ peer, storage, query = '', isSlow = false, folder }: Candidate): Promise<Server> {
    const serve = ['serve', '--port', '0', '--log-level', 'error', '--tokens', this.#tokens, '--storage'];
    const args = peer === undefined ? [programOf(folder), ...serve] : [`test/bench/peers/${peer}.js`];
    switch (storage) {
      case 'none':
        return startServer(args);
      case 'memory':
        return this.#fill(await startServer([...args, 'memory']));
      case 'sqlite': {
        const path = join(this.#folder, `${++this.#files}.db`);
        // The server is started twice, so that it creates its table itself.
        await (await startServer([...args, `sqlite:${path}`])).stop();
        fillSqlite(path);
        return startServer([...args, `sqlite:${path}${query}`], isSlow ? this.#slowSync() : {});
      }
      case 'postgres':
        return this.#onPostgres(args);
    }
  }

  /** Returns the CPU time that all PostgreSQL processes have used, in microseconds. */
  async databaseMicros(): Promise<number> {
    return (await this.#cluster?.cpuMicros()) ?? 0;
  }

  async stop(): Promise<void> {
    await this.#cluster?.remove();
  }

  /** Creates the numbered plants over HTTP. */
  async #fill(server: Server): Promise<Server> {
    for (const [user, count] of Object.entries(numberedUsers)) {
      let n = 0;
      const next = () => (n++ < count ? createExchange(user, n, plantNumber(n)) : undefined);
      await runLoad({ port: server.port, connections: 64, next });
    }
    return server;
  }

  async #onPostgres(args: readonly string[]): Promise<Server> {
    this.#cluster ??= await PostgresCluster.start();
    const url = await this.#cluster.makeDatabase();
    const server = await startServer([...args, url]);
    // The server creates its table when it handles the first request.
    const headers = { authorization: `Bearer ${tokenOf(wholeUser)}` };
    await fetch(`http://127.0.0.1:${server.port}/plants?limit=1`, { headers });
    await fillPostgres(url);
    return server;
  }

  /** Compiles a library that delays each fsync. Returns the environment variables with which a process preloads it. */
  #slowSync(): NodeJS.ProcessEnv {
    const library = join(this.#folder, `slow-sync-${this.#files}.so`);
    const compile = ['-shared', '-fPIC', '-o', library, join(root, 'test/bench/slow-sync.c'), '-ldl'];
    execFileSync('cc', compile, { stdio: 'inherit' });
    return { LD_PRELOAD: library };
  }
}

/** Returns the path of the build's command line program. */
function programOf(folder: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  return resolve(folder, bin['plant-store'] ?? '');
}

/** Runs a Node.js program in the root folder of the project, and waits until the program prints its URL. */
async function startServer(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const reportUsage = fileURLToPath(new URL('report-usage.js', import.meta.url));
  const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', ...env },
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
