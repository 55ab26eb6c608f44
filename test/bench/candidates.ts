import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBuild, supportsParameter } from './builds.ts';
import type { Build } from './builds.ts';
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
  readonly twin?: Twin | undefined;
  readonly dialect: Dialect;
  readonly server: ServerProcess;
  /** Whether it stores plants in PostgreSQL. */
  readonly usesPostgres: boolean;
}

/** Another build of Plant Store that is compared with this one. */
interface Twin {
  /** The name of the candidate of this build that has the same storage. */
  readonly of: string;
  /** The folder of the other build. */
  readonly folder: string;
}

/** Which candidates to start, and on what. */
export interface CandidateOptions {
  /** A temporary folder for their files. */
  readonly folder: string;
  readonly isSelected: (name: string) => boolean;
  /** Other builds of Plant Store to compare with. If there are any, the peers are not started. */
  readonly against: readonly Build[];
  /** Creates a PostgreSQL database with all plants, and returns its connection string. */
  readonly createPostgresDatabase: () => Promise<string>;
  /** Environment variables of the servers. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The function resolves with `undefined` if the build does not support the storage. */
type Start = [name: string, dialect: Dialect, start: () => Promise<ServerProcess | undefined>, twin?: Twin];

export const bareName = 'bare node:http';
export const ownName = 'Plant Store, SQLite';

/** Returns whether this is the name of Plant Store, and not of another server. */
export function isOwn(name: string): boolean {
  return name.startsWith('Plant Store, ');
}

/** Starts the servers, each with its own data. */
export async function startCandidates(options: CandidateOptions): Promise<Candidate[]> {
  const { folder, isSelected, against, createPostgresDatabase, env: common } = options;
  const { own, peer } = await createDatabases(folder);
  const tokens = join(folder, 'tokens.json');
  await writeTokenFile(tokens);
  const env = { ...common, BENCH_TOKENS: tokenMap() };
  const startPeer = (name: string, data: string): Promise<ServerProcess> =>
    startServerProcess([`test/bench/peers/${name}.js`, data], env);
  let copies = 0;
  const copyOf = async (database: string): Promise<string> => {
    const path = join(folder, `copy-${++copies}.db`);
    await copyFile(database, path);
    return path;
  };
  const startSqlitePeer = async (name: string): Promise<ServerProcess> => startPeer(name, await copyOf(peer));

  const builds: readonly Build[] = [await findBuild(), ...against];
  /** The candidates with one storage: this build, then its twins. */
  const ownStarts = (
    name: string,
    dialect: Dialect,
    createStorage: () => Promise<string>,
    parameter?: string,
  ): Start[] =>
    builds.map(({ folder, program }) => {
      const start = async (): Promise<ServerProcess | undefined> => {
        if (parameter !== undefined && !(await supportsParameter(program, parameter))) return undefined;
        const storage = (await createStorage()) + (parameter === undefined ? '' : `?${parameter}=true`);
        const options = ['--port', '0', '--log', 'off', '--tokens', tokens, '--storage', storage];
        const server = await startServerProcess([program, 'serve', ...options], common);
        return storage === 'memory' ? createPlants(server) : server;
      };
      return folder === undefined
        ? [name, dialect, start]
        : [`${name} (against ${folder})`, dialect, start, { of: name, folder }];
    });
  const ownSqlite = async (): Promise<string> => `sqlite:${await copyOf(own)}`;

  const few: Dialect = { ...plantStoreDialect, hasAllPlants: false };
  const jsonServer: Dialect = {
    limitParameter: '_limit',
    createdStatus: 201,
    deletedStatus: 200,
    returnsPlant: false,
    hasAllPlants: false,
  };
  const starts: Start[] = [
    [bareName, few, async () => startPeer('bare-node-http', await writeLists(folder))],
    ...ownStarts('Plant Store, memory', few, () => Promise.resolve('memory')),
    ...ownStarts(ownName, plantStoreDialect, ownSqlite),
    ...ownStarts('Plant Store, SQLite, commitThread', plantStoreDialect, ownSqlite, 'commitThread'),
    ['Fastify + better-sqlite3', plantStoreDialect, () => startSqlitePeer('fastify-better-sqlite3')],
    ['Express + better-sqlite3', plantStoreDialect, () => startSqlitePeer('express-better-sqlite3')],
    ['Hono + node:sqlite', plantStoreDialect, () => startSqlitePeer('hono-node-sqlite')],
    ...ownStarts('Plant Store, PostgreSQL', plantStoreDialect, createPostgresDatabase),
    ['Fastify + pg', plantStoreDialect, async () => startPeer('fastify-pg', await createPostgresDatabase())],
    [
      'json-server, 2000 plants, no sync',
      jsonServer,
      async () => startPeer('json-server', await writeJsonServerFile(folder)),
    ],
  ];
  const candidates: Candidate[] = [];
  for (const [name, dialect, start, twin] of starts) {
    const isPeer = !isOwn(name) && name !== bareName;
    if (!isSelected(twin?.of ?? name) || (isPeer && against.length > 0)) continue;
    const server = await start();
    if (server === undefined) console.log(`${name}: NOT RUN. This build does not support this storage.`);
    else candidates.push({ name, twin, dialect, server, usesPostgres: /PostgreSQL|pg$/.test(twin?.of ?? name) });
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
