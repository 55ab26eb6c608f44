import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  copyGarden,
  deletedCount,
  deletedUser,
  listedCount,
  listedUser,
  plantGardens,
  plantNumber,
  tokenMap,
  tokenOf,
  writeTokenFile,
} from './garden.ts';
import { runLoad } from './load.ts';
import type { PostgresGarden } from './postgres-garden.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** How a server is talked to. */
export interface Dialect {
  readonly limitParameter: string;
  readonly createdStatus: number;
  readonly deletedStatus: number;
  /** Whether what is created is answered as Plant is. */
  readonly answersPlant: boolean;
  /** Whether it has a million plants and knows users. */
  readonly isWhole: boolean;
}

/** A server that takes part. */
export interface Candidate {
  readonly name: string;
  readonly dialect: Dialect;
  readonly server: ServerProcess;
}

const plants: Dialect = {
  limitParameter: 'limit',
  createdStatus: 200,
  deletedStatus: 204,
  answersPlant: true,
  isWhole: true,
};

export const floorName = 'bare node:http';
export const ownName = 'Plant Store, SQLite';

/** Starts every server, each over data of its own in the folder. */
export async function startCandidates(
  folder: string,
  postgres: PostgresGarden,
  names: (name: string) => boolean,
): Promise<Candidate[]> {
  const { own, peer } = await plantGardens(folder);
  const tokens = join(folder, 'tokens.json');
  await writeTokenFile(tokens);
  const env = { BENCH_TOKENS: tokenMap() };
  const program = (name: string): string => `test/bench/peers/${name}.js`;
  const serve = ['dist/cli/main.js', 'serve', '--port', '0', '--log', 'off', '--tokens', tokens, '--storage'];
  const onPeerGarden = async (name: string): Promise<ServerProcess> =>
    startServerProcess([program(name), await copyGarden(peer, join(folder, `${name}.db`))], env);

  const starts: [string, Dialect, () => Promise<ServerProcess>][] = [
    [
      floorName,
      { ...plants, isWhole: false },
      async () => startServerProcess([program('floor'), await writeLists(folder)]),
    ],
    [
      'Plant Store, memory',
      { ...plants, isWhole: false },
      async () => plantOverHttp(await startServerProcess([...serve, 'memory'])),
    ],
    [
      ownName,
      plants,
      async () => startServerProcess([...serve, `sqlite:${await copyGarden(own, join(folder, 'own.db'))}`]),
    ],
    ['Fastify + better-sqlite3', plants, () => onPeerGarden('fastify-better-sqlite3')],
    ['Express + better-sqlite3', plants, () => onPeerGarden('express-better-sqlite3')],
    ['Hono + node:sqlite', plants, () => onPeerGarden('hono-node-sqlite')],
    ['Plant Store, PostgreSQL', plants, async () => startServerProcess([...serve, await postgres.makeDatabase()])],
    [
      'Fastify + pg',
      plants,
      async () => startServerProcess([program('fastify-pg'), await postgres.makeDatabase()], env),
    ],
    [
      'json-server, 2000 plants, no sync',
      { limitParameter: '_limit', createdStatus: 201, deletedStatus: 200, answersPlant: false, isWhole: false },
      async () => startServerProcess([program('json-server'), await writeJsonFile(folder)]),
    ],
  ];
  const candidates: Candidate[] = [];
  for (const [name, dialect, start] of starts) {
    if (names(name)) candidates.push({ name, dialect, server: await start() });
  }
  return candidates;
}

/** The lists that the floor answers. */
async function writeLists(folder: string): Promise<string> {
  const path = join(folder, 'lists.json');
  const list = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => plantNumber(n + 1)));
  await writeFile(path, JSON.stringify({ 20: list(20), 1000: list(1000) }));
  return path;
}

async function writeJsonFile(folder: string): Promise<string> {
  const path = join(folder, 'json-server.json');
  const listedAndDeleted = Array.from({ length: listedCount * 2 }, (_, n) => ({ id: n + 1, ...plantNumber(n + 1) }));
  await writeFile(path, JSON.stringify({ plants: listedAndDeleted }));
  return path;
}

async function plantOverHttp(server: ServerProcess): Promise<ServerProcess> {
  for (const [user, count] of [
    [listedUser, listedCount],
    [deletedUser, deletedCount],
  ] as const) {
    let n = 0;
    await runLoad({
      port: server.port,
      connections: 64,
      milliseconds: Infinity,
      next: () => (n++ < count ? createRequest(user, n, plantNumber(n), plants) : undefined),
    });
  }
  return server;
}

/** A request that creates a plant, and its answer. */
export function createRequest(
  user: string,
  id: number,
  plant: { name: string; tag: string },
  dialect: Dialect,
): {
  request: string;
  status: number;
  body: Buffer | undefined;
} {
  const body = JSON.stringify({ id, ...plant });
  return {
    request: `${requestHead('POST', '/plants', user)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    status: dialect.createdStatus,
    body: dialect.answersPlant ? Buffer.from(JSON.stringify(plant)) : undefined,
  };
}

/** A request without what ends its header. */
export function requestHead(method: string, target: string, user: string): string {
  return `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${tokenOf(user)}\r\n`;
}
