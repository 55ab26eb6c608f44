import { access, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  allPlants,
  createDatabase,
  numberedUsers,
  plantNumber,
  tokenMap,
  wholeUser,
  writeTokenFile,
} from './data-set.ts';
import { atMost, runLoad } from './load.ts';
import { bareName } from './report.ts';
import { createExchange } from './requests.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** A checkout of this project that contains a built `dist` folder. */
export interface Build {
  /** The folder that was passed to `--against`; `undefined` for this checkout. */
  readonly folder: string | undefined;
  /** The path of the build's command line program. */
  readonly program: string;
}

/** A server that can be measured. */
export interface Candidate {
  readonly name: string;
  /** The name of the candidate that has the same storage and runs the build in this checkout. */
  readonly base: string;
  /** Starts the server with its own copy of the data. */
  readonly start: (env?: NodeJS.ProcessEnv) => Promise<ServerProcess>;
}

/** A candidate whose server is running. */
export interface Running extends Candidate {
  readonly server: ServerProcess;
}

/** The paths of the files that the candidates need. */
export interface Files {
  readonly folder: string;
  /** The SQLite file with all plants. Each server gets a copy. */
  readonly plants: string;
  /** The tokens file, with a token for each user. */
  readonly tokens: string;
  /** The responses to list requests that the bare server returns. */
  readonly lists: string;
}

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const ownName = 'Plant Store, SQLite';
export const memoryName = 'Plant Store, memory';
export const threadName = 'Plant Store, SQLite, commitThread';
export const postgresName = 'Plant Store, PostgreSQL';
export const fastifyName = 'Fastify + better-sqlite3';
export const fastifyPgName = 'Fastify + pg';

/** Finds the build in a folder; by default, in this checkout. */
export async function findBuild(folder?: string): Promise<Build> {
  const parent = folder ?? root;
  const { bin } = JSON.parse(await readFile(join(parent, 'package.json'), 'utf8')) as { bin: Record<string, string> };
  const program = resolve(parent, bin['plant-store'] ?? '');
  await access(program).catch((cause: unknown) => {
    throw new Error(`${program} is missing. Run 'npm ci && npm run build' in ${parent}.`, { cause });
  });
  return { folder, program };
}

export async function createFiles(folder: string): Promise<Files> {
  const path = (name: string): string => join(folder, name);
  const files = { folder, plants: path('plants.db'), tokens: path('tokens.json'), lists: path('lists.json') };
  await writeTokenFile(files.tokens);
  const list = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => plantNumber(n + 1)));
  await writeFile(files.lists, JSON.stringify({ 20: list(20), 1000: list(1000), all: list(numberedUsers[wholeUser]) }));
  await createDatabase(files.plants, allPlants);
  return files;
}

/** Starts a build's command line program. */
export function startOwn(
  { program }: Build,
  tokens: string,
  storage: string,
  env?: NodeJS.ProcessEnv,
): Promise<ServerProcess> {
  const options = ['--port', '0', '--log', 'off', '--tokens', tokens, '--storage', storage];
  return startServerProcess([program, 'serve', ...options], env);
}

/** Starts a server from the folder `peers`. */
export function startPeer(file: string, data: string, env?: NodeJS.ProcessEnv): Promise<ServerProcess> {
  return startServerProcess([`test/bench/peers/${file}.js`, data], { ...env, BENCH_TOKENS: tokenMap() });
}

/** Returns the candidates. Includes the peers only if there is one build of Plant Store. */
export function candidatesOf(
  { folder, plants, tokens, lists }: Files,
  builds: readonly Build[],
  createPostgresDatabase: () => Promise<string>,
): Candidate[] {
  let copies = 0;
  const copyPlants = async (): Promise<string> => {
    const path = join(folder, `copy-${++copies}.db`);
    await copyFile(plants, path);
    return path;
  };
  /** Returns the Plant Store candidates with one storage: this build first, then the other builds. */
  const owns = (base: string, createStorage: () => Promise<string>): Candidate[] =>
    builds.map((build) => ({
      name: build.folder === undefined ? base : `${base} (against ${build.folder})`,
      base,
      start: async (env) => {
        const server = await startOwn(build, tokens, await createStorage(), env);
        if (base === memoryName) await createPlants(server);
        return server;
      },
    }));
  return [
    peer(bareName, 'bare-node-http', () => Promise.resolve(lists)),
    ...owns(memoryName, () => Promise.resolve('memory')),
    ...owns(ownName, async () => `sqlite:${await copyPlants()}`),
    ...owns(threadName, async () => `sqlite:${await copyPlants()}?commitThread=true`),
    ...owns(postgresName, createPostgresDatabase),
    ...(builds.length === 1
      ? [
          peer(fastifyName, 'fastify-better-sqlite3', copyPlants),
          peer(fastifyPgName, 'fastify-pg', createPostgresDatabase),
        ]
      : []),
  ];
}

function peer(name: string, file: string, createData: () => Promise<string>): Candidate {
  return { name, base: name, start: async (env) => startPeer(file, await createData(), env) };
}

/** Sends requests that create the plants of the users in `numberedUsers`. */
async function createPlants({ port }: ServerProcess): Promise<void> {
  for (const [user, count] of Object.entries(numberedUsers)) {
    const next = atMost(count, (n) => createExchange(user, n + 1, plantNumber(n + 1)));
    await runLoad({ port, connections: 64, next });
  }
}
