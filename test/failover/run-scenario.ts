import { setTimeout as sleep } from 'node:timers/promises';
import { expectedStatuses, startWriteLoad } from './write-load.ts';
import type { LoadResult } from './write-load.ts';
import { listAll } from '../support/model-clients.ts';
import type { Cluster } from './cluster.ts';
import type { Scenario } from './scenarios.ts';

export interface ScenarioContext {
  readonly cluster: Cluster;
  /** The URLs of the servers. */
  readonly urls: readonly string[];
  /** The token of a user without plants. */
  readonly token: string;
}

/** What the clients of a scenario received, compared with the plants that exist afterwards. */
export interface ScenarioResult extends LoadResult {
  /** Plants whose create was acknowledged, or reported as taken, and that do not exist. */
  readonly lost: number;
  /** Plants whose delete was acknowledged, or reported as already deleted, and that exist. */
  readonly resurrected: number;
  /** Plants that exist although no request for them succeeded. */
  readonly phantom: number;
  /** Responses that no client should receive, such as 500. */
  readonly unexpected: number;
}

/** Returns whether no write was lost, and no response was unexpected. */
export function isCorrect({ lost, resurrected, phantom, unexpected }: ScenarioResult): boolean {
  return lost + resurrected + phantom + unexpected === 0;
}

const clientCount = 16;
/** The pause of a client after a 503. */
const pauseMs = 100;
const quietMs = 3000;
/** How long the cluster may take to have a leader and two standbys again. */
const recoveryMs = 120_000;

/** Runs a scenario while clients create and delete plants. Lists the plants when the cluster has all three members again. */
export async function runScenario(
  scenario: Scenario,
  { cluster, urls, token }: ScenarioContext,
): Promise<ScenarioResult> {
  const load = startWriteLoad({ urls, token, clients: clientCount, pauseMs });
  await sleep(quietMs);
  await scenario(cluster, load);
  // Under load, so that plants are acknowledged while a machine joins the cluster again.
  await cluster.whenHealthy(recoveryMs);
  await sleep(quietMs);
  const result = await load.stop();
  const listed = await listAll(urls[0] ?? '', token);
  const existing = new Set(listed.map(({ name }) => Number(name.replace('plant ', ''))));
  const { created, deleted, statuses } = result;
  const unexpected = Object.entries(statuses).filter(([status]) => !expectedStatuses.includes(status));
  return {
    ...result,
    lost: countWhere(created, (id) => !existing.has(id)),
    resurrected: countWhere(deleted, (id) => existing.has(id)),
    phantom: countWhere(existing, (id) => !created.has(id) && !deleted.has(id)),
    unexpected: unexpected.reduce((sum, [, count]) => sum + count, 0),
  };
}

function countWhere(ids: ReadonlySet<number>, isCounted: (id: number) => boolean): number {
  return [...ids].filter(isCounted).length;
}
