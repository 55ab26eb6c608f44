import { setTimeout as sleep } from 'node:timers/promises';
import { startCreateLoad } from './create-load.ts';
import type { LoadResult } from './create-load.ts';
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
  /** Plants that were acknowledged, or reported as taken, and that do not exist. */
  readonly lost: number;
  /** Plants that exist although no request for them succeeded. */
  readonly phantom: number;
}

const clientCount = 16;
/** The pause of a client after a 503. */
const pauseMs = 100;
const quietMs = 3000;
/** How long the cluster may take to have a leader and two standbys again. */
const recoveryMs = 120_000;

/** Runs a scenario while clients create plants. Lists the plants when the cluster has all three members again. */
export async function runScenario(
  scenario: Scenario,
  { cluster, urls, token }: ScenarioContext,
): Promise<ScenarioResult> {
  const load = startCreateLoad({ urls, token, clients: clientCount, pauseMs });
  await sleep(quietMs);
  await scenario(cluster, load);
  // Under load, so that plants are acknowledged while a machine joins the cluster again.
  await cluster.whenHealthy(recoveryMs);
  await sleep(quietMs);
  const result = await load.stop();
  const listed = await listAll(urls[0] ?? '', token);
  const existing = new Set(listed.map(({ name }) => Number(name.replace('plant ', ''))));
  const expected = new Set([...result.acknowledged, ...result.foundTaken]);
  return { ...result, lost: countMissing(expected, existing), phantom: countMissing(existing, expected) };
}

/** Returns how many of the wanted ids are not present. */
function countMissing(wanted: ReadonlySet<number>, present: ReadonlySet<number>): number {
  return [...wanted].filter((id) => !present.has(id)).length;
}
