import { setTimeout as sleep } from 'node:timers/promises';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import { politeUser } from './run-scenario.ts';
import type { Scenario } from './run-scenario.ts';

/** Clients that overload the server until they are stopped. `stop` resolves with a description of their responses. */
export interface Overload {
  readonly stop: () => Promise<string>;
}

const perSecond = 60;
const works = ['create', 'list 20', 'list 2000'] as const;
const aloneMs = 4000;
const maxDelayMs = 1000;

/**
 * While some clients overload the server, another user creates plants and lists 20 and 2000 of them at a fixed rate.
 * All of these requests must be served, and their 99th percentile may be a second longer than without the overload.
 */
export function besidePoliteUser(
  name: string,
  start: (port: number) => Promise<Overload>,
  plants: Scenario['plants'] = [1000, 5000],
): Scenario {
  return {
    plants,
    name: `${name}, another user sends ${perSecond} requests per second`,
    run: async ({ server: { port } }) => {
      const send = (milliseconds: number): Promise<StatsReport> =>
        startLoad('runAtFixedRate', { port, user: politeUser, perSecond, milliseconds, works }).report;
      const alone = await send(aloneMs);
      const overload = await start(port);
      await sleep(500);
      const stats = await send(20_000);
      const seen = await overload.stop();
      const failed = failuresOf(stats);
      const figures = `${failed} of ${stats.served + failed} requests failed, p99 ${stats.p99Ms.toFixed(0)} ms, alone ${alone.p99Ms.toFixed(0)} ms`;
      return {
        verdict: { holds: failed === 0 && stats.p99Ms - alone.p99Ms <= maxDelayMs, figures },
        stats,
        notes: [seen],
      };
    },
  };
}

/** Returns how many requests were refused, closed or not responded to. */
function failuresOf({ statuses, closed, unanswered, served }: StatsReport): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0) - served + closed + unanswered;
}
