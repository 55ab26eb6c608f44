import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createDatabases,
  deletedCount,
  deletedUser,
  listedCount,
  listedUser,
  plantNumber,
  tokenMap,
  writeTokenFile,
} from './data-set.ts';
import { createExchange, plantStoreDialect } from './dialect.ts';
import type { Dialect } from './dialect.ts';
import { runLoad } from './load.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** A server that is measured. */
export interface Candidate {
  readonly name: string;
  readonly dialect: Dialect;
  readonly server: ServerProcess;
}

/** Which candidates to start, and on what. */
export interface CandidateOptions {
  /** A temporary folder for their files. */
  readonly folder: string;
  readonly isSelected: (name: string) => boolean;
  /** Creates a PostgreSQL database with all plants, and returns its connection string. */
  readonly createPostgresDatabase: () => Promise<string>;
  /** Environment variables of the servers. */
  readonly env?: NodeJS.ProcessEnv;
}

export const bareName = 'bare node:http';
export const ownName = 'Plant Store, SQLite';

/** Starts the servers, each with its own data. */
export async function startCandidates(options: CandidateOptions): Promise<Candidate[]> {
  const { folder, isSelected, createPostgresDatabase, env: common } = options;
  const { own, peer } = await createDatabases(folder);
  const tokens = join(folder, 'tokens.json');
  await writeTokenFile(tokens);
  const env = { ...common, BENCH_TOKENS: tokenMap() };
  const serve = ['dist/cli/main.js', 'serve', '--port', '0', '--log', 'off', '--tokens', tokens, '--storage'];
  const startOwn = (storage: string): Promise<ServerProcess> => startServerProcess([...serve, storage], common);
  const startPeer = (name: string, data: string): Promise<ServerProcess> =>
    startServerProcess([`test/bench/peers/${name}.js`, data], env);
  const copyOf = async (database: string, name: string): Promise<string> => {
    const path = join(folder, `${name}.db`);
    await copyFile(database, path);
    return path;
  };
  const startSqlitePeer = async (name: string): Promise<ServerProcess> => startPeer(name, await copyOf(peer, name));

  const few: Dialect = { ...plantStoreDialect, hasAllPlants: false };
  const jsonServer: Dialect = {
    limitParameter: '_limit',
    createdStatus: 201,
    deletedStatus: 200,
    returnsPlant: false,
    hasAllPlants: false,
  };
  const starts: [string, Dialect, () => Promise<ServerProcess>][] = [
    [bareName, few, async () => startPeer('bare-node-http', await writeLists(folder))],
    ['Plant Store, memory', few, async () => createPlants(await startOwn('memory'))],
    [ownName, plantStoreDialect, async () => startOwn(`sqlite:${await copyOf(own, 'own')}`)],
    [
      'Plant Store, SQLite, commitThread',
      plantStoreDialect,
      async () => startOwn(`sqlite:${await copyOf(own, 'own-thread')}?commitThread=true`),
    ],
    ['Fastify + better-sqlite3', plantStoreDialect, () => startSqlitePeer('fastify-better-sqlite3')],
    ['Express + better-sqlite3', plantStoreDialect, () => startSqlitePeer('express-better-sqlite3')],
    ['Hono + node:sqlite', plantStoreDialect, () => startSqlitePeer('hono-node-sqlite')],
    ['Plant Store, PostgreSQL', plantStoreDialect, async () => startOwn(await createPostgresDatabase())],
    [
      'Plant Store, PostgreSQL, preparedStatements',
      plantStoreDialect,
      async () => startOwn(`${await createPostgresDatabase()}?preparedStatements=true`),
    ],
    ['Fastify + pg', plantStoreDialect, async () => startPeer('fastify-pg', await createPostgresDatabase())],
    [
      'json-server, 2000 plants, no sync',
      jsonServer,
      async () => startPeer('json-server', await writeJsonServerFile(folder)),
    ],
  ];
  const candidates: Candidate[] = [];
  for (const [name, dialect, start] of starts) {
    if (isSelected(name)) candidates.push({ name, dialect, server: await start() });
  }
  return candidates;
}

/** Writes the lists that the bare server returns. */
async function writeLists(folder: string): Promise<string> {
  const path = join(folder, 'lists.json');
  const list = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => plantNumber(n + 1)));
  await writeFile(path, JSON.stringify({ 20: list(20), 1000: list(1000) }));
  return path;
}

/** Writes the plants of the listed user, and as many more to delete. */
async function writeJsonServerFile(folder: string): Promise<string> {
  const path = join(folder, 'json-server.json');
  const plants = Array.from({ length: listedCount * 2 }, (_, n) => ({ id: n + 1, ...plantNumber(n + 1) }));
  await writeFile(path, JSON.stringify({ plants }));
  return path;
}

/** Creates the plants of the listed and of the deleted user over HTTP. */
async function createPlants(server: ServerProcess): Promise<ServerProcess> {
  for (const [user, count] of [
    [listedUser, listedCount],
    [deletedUser, deletedCount],
  ] as const) {
    let n = 0;
    await runLoad({
      port: server.port,
      connections: 64,
      milliseconds: Infinity,
      next: () => (n++ < count ? createExchange(user, n, plantNumber(n), plantStoreDialect) : undefined),
    });
  }
  return server;
}
