import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  createPlantStoreDatabase,
  creatingUser,
  listedUser,
  otherUsers,
  randomId,
  writeTokenFile,
} from '../bench/data-set.ts';
import { createText } from '../bench/requests.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { requestOnce } from './clients/exchange.ts';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import { ServerUnderLoad } from './server.ts';
import type { Memory } from './server.ts';

/** Sends far more requests than a fair share, or hostile ones. */
export const greedyUser = listedUser;
/** Sends ordinary requests at the same time, which should not be delayed. */
export const [politeUser = ''] = otherUsers;

/** The server that a scenario runs on. */
export interface Context {
  readonly server: ServerUnderLoad;
  readonly port: number;
  /** Starts another server on the same file. */
  readonly startOther: () => Promise<ServerUnderLoad>;
  /** The memory before the scenario. */
  readonly idle: Memory;
}

/** What a scenario measures. */
export interface Result {
  /** Whether the server does what the scenario requires, and the figures that show it; none if it requires nothing. */
  readonly verdict?: { readonly holds: boolean; readonly figures: string };
  /** The responses to the requests that are measured. */
  readonly stats?: StatsReport;
  readonly notes?: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** The plants of the greedy and of the polite user. By default there is no plant. */
  readonly plants?: readonly [greedy: number, polite: number];
  /** Whether the plants of the greedy user from 1001 on have long names, so that they fill pages. */
  readonly hasLongNames?: boolean;
  /** More options for Node.js. */
  readonly nodeOptions?: readonly string[];
  /** More options for `serve`. */
  readonly serveOptions?: readonly string[];
  readonly run: (context: Context) => Promise<Result>;
}

/** The figures of a scenario. */
export interface Row extends Result {
  readonly name: string;
  /** The maximum number of open connections. */
  readonly connections: number;
  readonly cpuSeconds: number;
  /** Memory above that of the idle server: the peak, and afterwards. */
  readonly peakBytes: number;
  readonly after: Memory;
  readonly health: string;
}

const warmUpMs = 1000;
const maxCollections = 10;
const nearIdleBytes = 10 * 2 ** 20;
const maxResponseMs = 20_000;

/** Runs a scenario on its own server. */
export async function runScenario(scenario: Scenario, dist: string): Promise<Row> {
  await using cleanUp = new CleanUp();
  const folder = await temporaryFolder(cleanUp);
  await writeTokenFile(join(folder, 'tokens.json'));
  await createDatabase(join(folder, 'plants.db'), scenario);
  const startServer = (): Promise<ServerUnderLoad> => ServerUnderLoad.start(cleanUp, { dist, folder, ...scenario });
  const server = await startServer();
  const { port, watch } = server;
  const warmUp = { connections: 64, milliseconds: warmUpMs, work: 'create', users: [creatingUser] } as const;
  await startLoad('runClosedLoop', { port, ...warmUp }).report;
  const idle = await server.memory();
  const [files, cpu] = [watch.openFiles(), watch.cpuSeconds()];
  watch.restart();
  const result = await scenario.run({ server, port, idle, startOther: startServer });
  const cpuSeconds = watch.cpuSeconds() - cpu;
  const health = await checkHealth(server);
  const [connections, peak] = [watch.mostOpenFiles() - files, watch.peakMemory()];
  const after = await remainingMemory(server, idle);
  const end = await server.stop();
  const isCleanEnd = /^exit code 0 after [012]\./.test(end);
  const faults = [...server.faults()].slice(0, 5).map(([fault, count]) => `${count} × in the log: ${fault}`);
  return {
    ...result,
    name: scenario.name,
    connections,
    cpuSeconds,
    peakBytes: peak - idle.residentBytes,
    after,
    health,
    notes: [...(result.notes ?? []), ...faults, ...(isCleanEnd ? [] : [`the server ended with ${end}`])],
  };
}

async function createDatabase(
  path: string,
  { plants: [greedy, polite] = [0, 0], hasLongNames }: Scenario,
): Promise<void> {
  await createPlantStoreDatabase(path, function* () {
    for (let n = 1; n <= greedy; n++) yield [greedyUser, n, n] as const;
    for (let n = 1; n <= polite; n++) yield [politeUser, n, n] as const;
  });
  if (hasLongNames !== true) return;
  const database = new DatabaseSync(path);
  database.exec("UPDATE plants SET name = printf('%-230s', name) WHERE id > 1000");
  database.close();
}

/** Measures the memory without requests above that before, after several garbage collections if necessary. */
async function remainingMemory(server: ServerUnderLoad, idle: Memory): Promise<Memory> {
  let after: Memory = { usedBytes: NaN, residentBytes: NaN };
  for (let tries = 0; tries < maxCollections && server.isRunning; tries++) {
    const { usedBytes, residentBytes } = await server.memory();
    after = { usedBytes: usedBytes - idle.usedBytes, residentBytes: residentBytes - idle.residentBytes };
    if (after.usedBytes < nearIdleBytes) break;
  }
  return after;
}

/** Returns whether the server creates a plant of the polite user within a second. */
async function checkHealth(server: ServerUnderLoad): Promise<string> {
  if (!server.isRunning) return 'no: it has ended';
  const start = performance.now();
  const text = createText(politeUser, randomId(), { name: 'Fern', tag: 'indoor' });
  const outcome = await requestOnce(server.port, text, maxResponseMs);
  const ms = performance.now() - start;
  return `${outcome === 200 && ms < 1000 ? 'yes' : `no, ${outcome}`}, ${ms.toFixed(0)} ms`;
}
