import { setTimeout as sleep } from 'node:timers/promises';
import { listAll, startModelClients } from '../support/model-clients.ts';
import type { ModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import type { Findings } from '../support/plant-model.ts';
import type { Cluster } from './cluster.ts';
import type { Scenario } from './scenarios.ts';

export interface ScenarioContext {
  readonly cluster: Cluster;
  /** The URLs of the servers. */
  readonly urls: readonly string[];
  /** A user without plants. */
  readonly user: string;
  readonly token: string;
}

/** The differences between the responses that the clients received and the plants that exist after the scenario. */
export interface ScenarioResult extends Findings {
  readonly clients: ModelClients;
}

/** Returns how many responses were wrong or missing. */
function countWrong({ problems, statuses }: ModelClients): number {
  return problems.length + (statuses.get(0) ?? 0);
}

/** Returns whether no write was lost and no response was wrong. */
export function isCorrect({ lost, resurrected, phantom, clients }: ScenarioResult): boolean {
  return lost.length + resurrected.length + phantom.length + countWrong(clients) === 0;
}

const clientCount = 16;
/** How many ids each client uses: enough that it rarely reuses the id of a plant that may have been lost. */
const idsEach = 3000;
/** How long a client pauses after a 503. */
const pauseMs = 100;
const quietMs = 3000;
/** How long the cluster may take until it has a leader and two standbys again. */
const recoveryMs = 120_000;

/** Runs a scenario while clients create and delete plants. Lists the plants when all three members work again. */
export async function runScenario(
  scenario: Scenario,
  { cluster, urls, user, token }: ScenarioContext,
): Promise<ScenarioResult> {
  const model = new PlantModel();
  const tokens = new Map([[user, token]]);
  const options = { urls, tokens, clients: clientCount, idsEach, random: Math.random, pauseMs };
  const clients = startModelClients(model, options);
  await sleep(quietMs);
  await scenario(cluster, clients);
  // The load continues, so that writes are acknowledged while a machine rejoins the cluster.
  await cluster.whenHealthy(recoveryMs);
  await sleep(quietMs);
  await clients.stop();
  return { clients, ...model.check(user, await listAll(urls[0] ?? '', token)) };
}

const columns: Readonly<Record<string, (result: ScenarioResult) => string>> = {
  Acknowledged: ({ clients }) => clients.acknowledged().toLocaleString('en-US'),
  Lost: ({ lost }) => String(lost.length),
  Resurrected: ({ resurrected }) => String(resurrected.length),
  Phantom: ({ phantom }) => String(phantom.length),
  'Wrong responses': ({ clients }) => String(countWrong(clients)),
  Responses: ({ clients }) =>
    [...clients.statuses].map(([status, n]) => `${n.toLocaleString('en-US')} × ${status}`).join(', '),
  'Seconds without a success': ({ clients }) => (clients.longest.gapMs / 1000).toFixed(1),
  'Longest request, seconds': ({ clients }) => (clients.longest.requestMs / 1000).toFixed(1),
};

/** Formats the results as a Markdown table. */
export function tableOf(results: ReadonlyMap<string, ScenarioResult>): string {
  const titles = ['Failure', ...Object.keys(columns)];
  const rows = [...results].map(([name, result]) => [name, ...Object.values(columns).map((cell) => cell(result))]);
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
