import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import type { PostgresCluster } from '../support/postgres.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { CleanUp } from '../support/temporary-folder.ts';
import { creatingUser, fillPostgres, fillSqlite, numberedUsers, plantNumber } from './data-set.ts';
import { tokenOf, writeTokenFile } from './data-set.ts';

/** What report-usage.js reports. */
interface Usage {
  /** The user and system time of all threads since the process started. */
  readonly cpuMicros: number;
  readonly peakMiB: number;
  /** The 99th percentile of the event loop's delay since the previous report. */
  readonly loopDelayMs: number;
}

export interface Server {
  readonly port: number;
  usage(): Promise<Usage>;
  stop(): Promise<unknown>;
  /** Only for SQLite. Starts the server again, with an empty write-ahead log. */
  restart?(): Promise<Server>;
}

export const bareName = 'bare node:http';
export const ownName = 'Plant Store, SQLite';
export const memoryName = 'Plant Store, memory';
export const threadName = 'Plant Store, SQLite, commitThread';
export const postgresName = 'Plant Store, PostgreSQL';
export const fastifyName = 'Fastify + better-sqlite3';
export const fastifyPgName = 'Fastify + pg';
/** The servers with a disk whose fsync takes 10 ms longer. */
export const slow = (name: string): string => `${name}, slow disk`;
/** The servers that run the other build of a comparison. */
export const against = (name: string): string => `${name} (against)`;

export interface Candidate {
  readonly name: string;
  /** The server to measure; by default, Plant Store. */
  readonly peer?: 'bare-node-http' | 'fastify';
  readonly storage: 'none' | 'memory' | 'sqlite' | 'postgres';
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
const candidates: readonly Candidate[] = [
  { name: bareName, storage: 'none', peer: 'bare-node-http' },
  { name: memoryName, storage: 'memory' },
  ...onSqlite,
  { name: postgresName, storage: 'postgres' },
  { name: fastifyPgName, storage: 'postgres', peer: 'fastify' },
  ...onSqlite.map((candidate) => ({ ...candidate, name: slow(candidate.name), isSlow: true })),
];

/**
 * Returns the candidates that are selected. `folder` contains another build to compare with. Each Plant Store
 * is then followed by one that runs this build, and Fastify is omitted.
 */
export function listCandidates(
  isSelected: (name: string) => boolean,
  folder: string | undefined,
): readonly Candidate[] {
  const matching = candidates.filter(({ name }) => isSelected(name));
  if (folder === undefined) return matching;
  return matching.flatMap((candidate) => {
    if (candidate.peer === undefined) return [candidate, { ...candidate, name: against(candidate.name), folder }];
    return candidate.peer === 'fastify' ? [] : [candidate];
  });
}

/** Starts a candidate's server with a million plants, which is stopped after the run. */
export async function startCandidate(
  { peer, storage, query = '', isSlow = false, folder = root }: Candidate,
  cluster: PostgresCluster,
  cleanUp: CleanUp,
): Promise<Server> {
  const files = await temporaryFolder(cleanUp);
  const tokens = join(files, 'tokens.json');
  writeTokenFile(tokens);
  const serve = ['serve', '--port', '0', '--log-level', 'error', '--tokens', tokens, '--storage'];
  const args = peer === undefined ? [programOf(folder), ...serve] : [`test/bench/peers/${peer}.js`];
  const start = (location: string, env?: NodeJS.ProcessEnv): Promise<Server> =>
    startServer(cleanUp, [...args, location], env);
  const create = { PLANT_STORE_CREATE: 'true' };
  switch (storage) {
    case 'none':
      return start('');
    case 'memory': {
      const server = await start('memory');
      for (const [user, count] of Object.entries(numberedUsers)) await createPlants(server, user, count);
      return server;
    }
    case 'sqlite': {
      const path = join(files, 'plants.db');
      // The server is started twice, so that it creates its table itself.
      await (await start(`sqlite:${path}`, create)).stop();
      fillSqlite(path);
      if (isSlow) return start(`sqlite:${path}${query}`, { LD_PRELOAD: compileSlowSync(files) });
      const open = async (): Promise<Server> => {
        const server = await start(`sqlite:${path}${query}`);
        return { ...server, restart: () => server.stop().then(open) };
      };
      const server = await open();
      // After more than 1000 commits, the write-ahead log has its size.
      await createPlants(server, creatingUser, 20_000);
      return server;
    }
    case 'postgres': {
      const url = await cluster.makeDatabase();
      const server = await start(url, create);
      // The server creates its table when it handles the first request.
      const headers = { authorization: `Bearer ${tokenOf('liz')}` };
      await fetch(`http://127.0.0.1:${server.port}/plants?limit=1`, { headers });
      await fillPostgres(cluster, url);
      return server;
    }
  }
}

/** The program of a build may have another path. */
function programOf(folder: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: { 'plant-store': string } };
  return join(folder, bin['plant-store']);
}

/** Compiles a library that delays each fsync of a process that preloads it. Returns its path. */
function compileSlowSync(folder: string): string {
  const library = join(folder, 'slow-sync.so');
  const options = ['-shared', '-fPIC', '-o', library, join(root, 'test/bench/slow-sync.c'), '-ldl'];
  execFileSync('cc', options, { stdio: 'inherit' });
  return library;
}

/** Creates plants with the ids 1, 2, and so on over HTTP. */
async function createPlants({ port }: Server, user: string, count: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 16 });
  const headers = { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' };
  let id = 0;
  const createNext = async (): Promise<void> => {
    while (id < count) {
      id++;
      const body = JSON.stringify({ id, ...plantNumber(id) });
      const response = await pool.request({ method: 'POST', path: '/plants', headers, body });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: 16 }, createNext));
  await pool.close();
}

/** Runs a Node.js program in the root folder of the project, and waits until the program prints its URL. */
async function startServer(cleanUp: CleanUp, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const reportUsage = fileURLToPath(new URL('report-usage.js', import.meta.url));
  const child = spawn(process.execPath, ['--import', reportUsage, ...args], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { port, stop } = await untilListening(cleanUp, child, /(http:\/\/\S+?)\/?\n/);
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
