import { creatingUser } from '../../bench/data-set.ts';
import { startLoad } from '../clients/start-load.ts';
import type { ScenarioRunner } from '../scenario-runner.ts';

/** More clients than the server can serve at the same time. All of them behave well. */
export async function manyClients(runner: ScenarioRunner, connections: number, heedsRetryAfter = false): Promise<void> {
  const how = heedsRetryAfter ? ', and heed Retry-After' : '';
  await runner.run(`${connections.toLocaleString('en-US')} clients create${how}`, async ({ port }) => {
    const options = { work: 'create', users: [creatingUser], milliseconds: 6000, heedsRetryAfter } as const;
    const stats = await startLoad('runClosedLoop', { port, connections, ...options }).report;
    const slowest = `slowest response ${stats.maxMs.toFixed(0)} ms`;
    return {
      stats,
      notes: [`served in each second: ${stats.bySecond.join(' ')}; ${slowest}`, ...refusalNotes(stats.refusedP99Ms)],
    };
  });
}

/** Requests at ten times the rate that the server can serve, whether or not it responds. */
export async function tenfoldRate(runner: ScenarioRunner): Promise<void> {
  const { servedPerSecond } = await runner.baseline();
  const perSecond = Math.round(servedPerSecond * 10);
  const connections = 1000;
  const scenario = `${perSecond.toLocaleString('en-US')} creates per second over 1,000 connections`;
  await runner.run(scenario, async ({ port }) => {
    const options = { milliseconds: 8000, perSecond, user: creatingUser };
    const stats = await startLoad('runOpenLoop', { port, connections, ...options }).report;
    const { due, notSent, bySecond, refusedP99Ms } = stats;
    return {
      stats,
      notes: [
        `${due} requests due, ${notSent} of them not sent because the server did not read`,
        `created in each second: ${bySecond.join(' ')}`,
        ...refusalNotes(refusedP99Ms),
      ],
    };
  });
}

function refusalNotes(p99Ms: number): string[] {
  return Number.isNaN(p99Ms) ? [] : [`p99 of the 503 responses ${p99Ms.toFixed(0)} ms`];
}
