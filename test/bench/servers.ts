import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PostgresCluster } from '../support/postgres.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { CleanUp } from '../support/temporary-folder.ts';
import { fillMemory, fillPostgres, fillSqlite, tokenOf, writeTokenFile } from './data-set.ts';

/** What report-usage.js reports. */
type Usage = Readonly<Record<'cpuMicros' | 'peakMiB' | 'loopDelayMs', number>>;

export interface Server {
  readonly port: number;
  usage(): Promise<Usage>;
  /** Stops the server and starts it again, with an empty write-ahead log. */
  restart(): Promise<Server>;
}

export const bareName = 'bare node:http';
export const ownName = 'Plant Store, SQLite';
export const memoryName = 'Plant Store, memory';
export const threadName = 'Plant Store, SQLite, commitThread';
export const postgresName = 'Plant Store, PostgreSQL';
export const fastifyName = 'Fastify + better-sqlite3';
export const fastifyPgName = 'Fastify + pg';
/** Returns the name of a server on a disk whose fsync takes 10 ms longer. */
export const slow = (name: string): string => `${name}, slow disk`;

export interface Candidate {
  readonly name: string;
  /** The server to measure; by default, Plant Store. */
  readonly peer?: 'bare-node-http' | 'fastify';
  readonly storage?: 'memory' | 'sqlite' | 'postgres';
  /** What follows the path in the storage setting. */
  readonly query?: string;
  readonly isSlow?: boolean;
  /** The folder of the build. By default, this checkout. */
  readonly folder?: string;
}

const onSqlite: readonly Candidate[] = [
  { name: ownName, storage: 'sqlite' },
  { name: threadName, storage: 'sqlite', query: '?commitThread=true' },
  { name: fastifyName, storage: 'sqlite', peer: 'fastify' },
];
export const candidates: readonly Candidate[] = [
  { name: bareName, peer: 'bare-node-http' },
  { name: memoryName, storage: 'memory' },
  ...onSqlite,
  { name: postgresName, storage: 'postgres' },
  { name: fastifyPgName, storage: 'postgres', peer: 'fastify' },
  ...onSqlite.map((candidate) => ({ ...candidate, name: slow(candidate.name), isSlow: true })),
];

/** Starts a candidate's server with more than a million plants. The server is stopped after the run. */
export async function startCandidate(
  { name, peer, storage, query = '', isSlow = false, folder = root }: Candidate,
  cluster: PostgresCluster,
  cleanUp: CleanUp,
): Promise<Server> {
  const files = await temporaryFolder(cleanUp);
  const path = join(files, 'plants.db');
  const ofSqlite = storage === 'sqlite' ? `sqlite:${path}${query}` : 'memory';
  const location = storage === 'postgres' ? await cluster.makeDatabase() : ofSqlite;
  const tokens = join(files, 'tokens.json');
  writeTokenFile(tokens);
  const serve = ['serve', '--port', '0', '--log-level', 'error', '--tokens', tokens, '--storage'];
  const program = peer ? [`test/bench/peers/${peer}.js`] : [join(folder, 'dist/cli/main.js'), ...serve];
  const env = isSlow ? { LD_PRELOAD: compileSlowSync(files) } : {};
  const server = await startServer(cleanUp, [...program, location], env);
  const url = `http://127.0.0.1:${server.port}/plants?limit=20`;
  const list = (): Promise<Response> => fetch(url, { headers: { authorization: `Bearer ${tokenOf('ada')}` } });
  await list(); // An older build creates its table at the first request.
  if (storage === 'memory') await fillMemory(server.port);
  if (storage === 'sqlite') fillSqlite(path);
  if (storage === 'postgres') await fillPostgres(cluster, location);
  const expected = Array.from({ length: 20 }, (_, n) => ({ name: `Fern number ${n + 1}`, tag: 'indoor' }));
  assert.deepEqual(await (await list()).json(), expected, name);
  return server;
}

/** Compiles a library that delays each fsync of a process that preloads it. Returns its path. */
function compileSlowSync(folder: string): string {
  const library = join(folder, 'slow-sync.so');
  const options = ['-shared', '-fPIC', '-o', library, join(root, 'test/bench/slow-sync.c'), '-ldl'];
  execFileSync('cc', options, { stdio: 'inherit' });
  return library;
}

/** Runs a Node.js program in the root folder of the project, and waits until the program prints its URL. */
async function startServer(cleanUp: CleanUp, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Server> {
  const child = spawn(process.execPath, ['--import', './test/bench/report-usage.js', ...args], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', PLANT_STORE_CREATE: 'true', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { port, stop } = await untilListening(cleanUp, child, /(http:\/\/\S+?)\/?\n/);
  return {
    port,
    usage: async () => {
      const reported = once(child, 'message') as Promise<[Usage]>;
      child.send('usage');
      return (await reported)[0];
    },
    restart: async () => {
      await stop();
      return startServer(cleanUp, args, env);
    },
  };
}
