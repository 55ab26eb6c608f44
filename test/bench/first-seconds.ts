import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fastifyName, memoryName, ownName, root, startOwn, startPeer } from './candidates.ts';
import type { Build, Files } from './candidates.ts';
import { creatingUser, randomId } from './data-set.ts';
import { atMost, runLoad } from './load.ts';
import { bareName } from './report.ts';
import { createExchange, requestText } from './requests.ts';
import type { Figures, Participant } from './rounds.ts';
import type { ServerProcess } from './server-process.ts';

/** The row that measures servers from their start until they have responded to the first create requests. */
export const startName = 'start';
/** The row that measures programs that import a module. */
export const importName = 'import';

/** A small number, because some servers call fsync for each create request. */
const firstCreates = 2000;

/** Returns the servers that start on an empty folder. */
export function startParticipants(build: Build, { folder, tokens, lists }: Files): Participant[] {
  let files = 0;
  const newFile = (): string => join(folder, `start-${++files}.db`);
  const starts: Record<string, () => Promise<ServerProcess>> = {
    [bareName]: () => startPeer('bare-node-http', lists),
    [memoryName]: () => startOwn(build, tokens, 'memory'),
    [ownName]: () => startOwn(build, tokens, `sqlite:${newFile()}`),
    [fastifyName]: () => startPeer('fastify-better-sqlite3', newFile()),
  };
  return Object.entries(starts).map(([name, start]) => ({ name, measure: () => measureStart(start) }));
}

async function measureStart(start: () => Promise<ServerProcess>): Promise<Figures> {
  const began = performance.now();
  const server = await start();
  const { port } = server;
  const list = requestText('GET', '/plants?limit=20', creatingUser);
  await runLoad({ port, connections: 1, next: atMost(1, () => ({ request: list, status: 200 })) });
  const firstAnswerMs = performance.now() - began;
  const { cpuMicros } = await server.usage();
  const fern = { name: 'Fern', tag: 'indoor' };
  const create = atMost(firstCreates, () => createExchange(creatingUser, randomId(), fern));
  await runLoad({ port, connections: 64, next: create });
  const after = await server.usage();
  await server.stop();
  return {
    cpuMicros,
    cpuMs: cpuMicros / 1000,
    firstAnswerMs,
    createMicros: (after.cpuMicros - cpuMicros) / firstCreates,
  };
}

/** Returns the programs that each import one module. The bare program imports node:http. */
export function importParticipants(): Participant[] {
  const peers = ['fastify', 'better-sqlite3', 'pg'];
  const own = ['', '/sqlite', '/http', '/fetch', '/testing', '/tokens', '/postgres'].map(
    (each) => `plant-store${each}`,
  );
  return [bareName, ...own, ...peers].map((name) => {
    const module = name === bareName ? 'node:http' : name;
    const program = `
      const [start, began] = [process.cpuUsage(), performance.now()];
      await import('${module}');
      const importMs = performance.now() - began;
      const { user, system } = process.cpuUsage(start);
      console.log(JSON.stringify({ cpuMicros: user + system, cpuMs: (user + system) / 1000, importMs }));`;
    const cwd = peers.includes(name) ? join(root, 'test/bench') : root;
    const args = ['--input-type=module', '--eval', program];
    const run = (): string => execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { name, measure: () => Promise.resolve(JSON.parse(run()) as Figures) };
  });
}
