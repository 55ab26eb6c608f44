import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createDatabase, creatingUser, listedUser, otherUsers, randomId, writeTokenFile } from '../bench/data-set.ts';
import { createText } from '../bench/requests.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { requestOnce } from './clients/exchange.ts';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import { cpuSeconds, peakBytes, resetPeak } from './process-figures.ts';
import { startServer } from './server.ts';
import type { ServerOptions, ServerUnderLoad } from './server.ts';

/** The user that sends hostile requests, or far more requests than a fair share. */
export const greedyUser = listedUser;
/** The user that sends ordinary requests at the same time. The server should not delay these requests. */
export const [politeUser = ''] = otherUsers;

/** The server that a scenario runs on. */
export interface Context {
  readonly server: ServerUnderLoad;
  /** The resident memory before the scenario. */
  readonly idleBytes: number;
}

/** The result of a scenario. */
export interface Result {
  /** Whether the server meets the scenario's requirement, and the figures on which this verdict is based. */
  readonly verdict: { readonly holds: boolean; readonly figures: string };
  /** The outcomes of the measured requests. */
  readonly stats?: StatsReport;
  readonly notes?: readonly string[];
}

export interface Scenario extends Pick<ServerOptions, 'nodeOptions'> {
  readonly name: string;
  /** How many plants the greedy user and the polite user have. By default, they have no plants. */
  readonly plants?: readonly [greedy: number, polite: number];
  /** Whether the greedy user's plants from number 1001 on have long names, so that lists have pages of maximum size. */
  readonly hasLongNames?: boolean;
  readonly run: (context: Context) => Promise<Result>;
}

/** The measurements of one scenario. */
export interface Row extends Result {
  readonly name: string;
  readonly cpuSeconds: number;
  /** How much more memory the server used than when idle: at the peak, and after the scenario. */
  readonly peakBytes: number;
  readonly afterBytes: number;
  readonly health: string;
}

const warmUpMs = 1000;
const maxResponseMs = 20_000;
/** Longer than the time after which `serve` forces itself to stop. */
const maxStopMs = 15_000;

/** Starts a server for a scenario and runs the scenario. */
export async function runScenario(scenario: Scenario, dist: string): Promise<Row> {
  await using cleanUp = new CleanUp();
  const folder = await temporaryFolder(cleanUp);
  await writeTokenFile(join(folder, 'tokens.json'));
  await createPlants(join(folder, 'plants.db'), scenario);
  const server = await startServer(cleanUp, { dist, folder, ...scenario });
  const { port, pid } = server;
  const warmUp = { connections: 64, milliseconds: warmUpMs, work: 'create', users: [creatingUser] } as const;
  await startLoad('runClosedLoop', { port, ...warmUp }).report;
  const idleBytes = await server.memory();
  const cpuBefore = cpuSeconds(pid);
  resetPeak(pid);
  const result = await scenario.run({ server, idleBytes });
  const figures = { cpuSeconds: cpuSeconds(pid) - cpuBefore, peakBytes: peakBytes(pid) - idleBytes };
  const health = await checkHealth(server);
  const afterBytes = (await server.memory()) - idleBytes;
  const stopping = performance.now();
  const kill = setTimeout(() => void server.stop('SIGKILL'), maxStopMs);
  const code = await server.stop();
  clearTimeout(kill);
  const stopSeconds = (performance.now() - stopping) / 1000;
  const faults = server.faults();
  return {
    ...result,
    ...figures,
    name: scenario.name,
    afterBytes,
    health,
    notes: [
      ...(result.notes ?? []),
      ...(faults.length === 0 ? [] : [`${faults.length} faults in the log, such as ${faults[0]?.slice(0, 300) ?? ''}`]),
      ...(code === 0 && stopSeconds < 3 ? [] : [`the server ended with ${code} after ${stopSeconds.toFixed(1)} s`]),
    ],
  };
}

async function createPlants(
  path: string,
  { plants: [greedy, polite] = [0, 0], hasLongNames }: Scenario,
): Promise<void> {
  await createDatabase(path, function* () {
    for (let n = 1; n <= greedy; n++) yield [greedyUser, n, n] as const;
    for (let n = 1; n <= polite; n++) yield [politeUser, n, n] as const;
  });
  if (hasLongNames !== true) return;
  const database = new DatabaseSync(path);
  database.exec("UPDATE plants SET name = printf('%-230s', name) WHERE id > 1000");
  database.close();
}

/** Checks that the server creates a plant for the polite user within a second. Describes the result. */
async function checkHealth(server: ServerUnderLoad): Promise<string> {
  if (!server.isRunning()) return 'no: it has ended';
  const start = performance.now();
  const text = createText(politeUser, randomId(), { name: 'Fern', tag: 'indoor' });
  const outcome = await requestOnce(server.port, text, maxResponseMs);
  const ms = performance.now() - start;
  return `${outcome === 200 && ms < 1000 ? 'yes' : `no, ${outcome}`}, ${ms.toFixed(0)} ms`;
}
