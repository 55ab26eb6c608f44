import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { request } from 'undici';
import type { PostgresCluster } from '../support/postgres.ts';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { CleanUp } from '../support/temporary-folder.ts';

export interface Candidate {
  readonly name: string;
  /** The program in the folder `peers`; by default, Plant Store. */
  readonly peer?: 'bare-node-http' | 'fastify';
  /** The storage setting. `FILE` is replaced with a path, and `postgres` with a URL. */
  readonly storage: string;
  /** A program that runs the command in its arguments, such as strace, and its own arguments. */
  readonly wrapper?: readonly string[];
  /** The folder of the build. By default, this checkout. */
  readonly folder?: string;
}

/** The flags of strace that delay each fsync by 10 ms in the calling thread, as a slow disk does. */
const delay = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_enter=10000'];
const onSqlite: readonly Candidate[] = [
  { name: 'Plant Store, SQLite', storage: 'sqlite:FILE' },
  { name: 'Plant Store, SQLite, commitThread', storage: 'sqlite:FILE?commitThread=true' },
  { name: 'Fastify + better-sqlite3', peer: 'fastify', storage: 'sqlite:FILE' },
];
export const candidates: readonly Candidate[] = [
  { name: 'bare node:http', peer: 'bare-node-http', storage: 'none' },
  { name: 'Plant Store, memory', storage: 'memory' },
  ...onSqlite,
  { name: 'Plant Store, PostgreSQL', storage: 'postgres' },
  { name: 'Fastify + pg', peer: 'fastify', storage: 'postgres' },
  ...onSqlite.map((candidate) => ({
    ...candidate,
    name: `${candidate.name}, slow disk`,
    wrapper: ['strace', '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', ...delay],
  })),
];

/** The users whose plants have ids that are far apart. */
export const otherUsers: readonly string[] = Array.from({ length: 499 }, (_, n) => `gardener-${n}`);

/** How many plants each user has, and the difference between their ids. */
const users = {
  joe: [1, 1], // For create requests.
  ada: [1000, 1], // For list requests with a limit.
  eve: [900_000, 1], // For delete requests: more plants than all rounds delete.
  liz: [100_000, 1], // For list requests without a limit.
  ...Object.fromEntries(otherUsers.map((user) => [user, [1000, 2 ** 42]])),
} satisfies Record<string, [count: number, step: number]>;

/** SQL statements that insert all plants, for SQLite and PostgreSQL. */
const insertAll = Object.entries(users).map(
  ([user, [count, step]]) => `
    INSERT INTO plants ("user", id, name, tag)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT '${user}', n * ${step}, 'Fern number ' || n, 'indoor' FROM numbers;`,
);

/** Returns a user's token. The peers find the user in the token. */
export function tokenOf(user: string): string {
  return `pst_benchmark-${user}`;
}

/** Returns requests of ada with the token of another user. */
export function by(user: string, ...requests: readonly string[]): readonly string[] {
  return requests.map((request) => request.replaceAll('Bearer ada', `Bearer ${tokenOf(user)}`));
}

export function writeTokenFile(path: string): void {
  const tokens = Object.keys(users).map((user, n) => ({
    id: n.toString(16).padStart(16, '0'),
    user,
    sha256: createHash('sha256').update(tokenOf(user)).digest('hex'),
    createdAt: new Date().toISOString(),
  }));
  writeFileSync(path, JSON.stringify({ version: 1, tokens }), { mode: 0o600 });
}

const fernOf = (id: number): object => ({ name: `Fern number ${id}`, tag: 'indoor' });

/** Creates a user's plants over HTTP. */
async function fillMemory(url: string, user: 'ada' | 'eve'): Promise<void> {
  const headers = { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' };
  const create = async (id: number): Promise<void> => {
    const body = JSON.stringify({ id, ...fernOf(id) });
    await (await request(url, { method: 'POST', headers, body })).body.dump();
  };
  const [count] = users[user];
  for (let id = 1; id <= count; id += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => create(id + n)));
}

/** Starts a candidate's server with its plants. The server is stopped after the run. */
export async function startCandidate(candidate: Candidate, cluster: PostgresCluster, cleanUp: CleanUp) {
  const { name, peer, storage, wrapper = [], folder = root } = candidate;
  const files = await temporaryFolder(cleanUp);
  const path = join(files, 'plants.db');
  const tokens = join(files, 'tokens.json');
  writeTokenFile(tokens);
  const location = storage === 'postgres' ? await cluster.makeDatabase() : storage.replace('FILE', path);
  const serve = ['serve', '--port', '0', '--log-level', 'error', '--tokens', tokens, '--storage'];
  const program = peer ? [`test/bench/peers/${peer}.js`] : [join(folder, 'dist/cli/main.js'), ...serve];
  const node = [process.execPath, '--import', './test/bench/report-usage.js'];
  const server = await startServer(cleanUp, [...wrapper, ...node, ...program, location]);
  const url = `http://127.0.0.1:${server.port}/plants`;
  const list = async (): Promise<unknown> =>
    (await fetch(`${url}?limit=20`, { headers: { authorization: `Bearer ${tokenOf('ada')}` } })).json();
  await list(); // The first request creates a missing table.
  if (storage === 'memory') {
    await fillMemory(url, 'ada');
    await fillMemory(url, 'eve');
  }
  if (storage.startsWith('sqlite')) {
    using database = new DatabaseSync(path);
    database.exec(`PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN; ${insertAll.join('')} COMMIT`);
    database.exec('PRAGMA wal_checkpoint(FULL)'); // The write-ahead log now has its full size.
  }
  if (storage === 'postgres') {
    for (const sql of [insertAll.join(''), 'VACUUM ANALYZE plants', 'CHECKPOINT']) await cluster.queryAt(location, sql);
  }
  assert.deepEqual(
    await list(),
    Array.from({ length: 20 }, (_, n) => fernOf(n + 1)),
    name,
  );
  return server;
}

/** The resource usage that report-usage.js reports. */
type Usage = Readonly<Record<'cpuMicros' | 'peakMiB' | 'loopDelayMs' | 'majorPageFaults', number>>;

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Runs a program in the root folder of the project, and waits until the program prints its URL. */
export async function startServer(cleanUp: CleanUp, command: readonly string[]) {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', PLANT_STORE_CREATE: 'true' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const { port, stop } = await untilListening(cleanUp, child, /(http:\/\/\S+?)\/?\n/);
  const usage = async (): Promise<Usage> => {
    child.send('usage');
    return ((await once(child, 'message')) as [Usage])[0];
  };
  return { command, port, stop, usage };
}
