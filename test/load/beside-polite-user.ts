import { setTimeout as sleep } from 'node:timers/promises';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import { politeUser } from './run-scenario.ts';
import type { Scenario } from './run-scenario.ts';

/** Clients that overload the server. `stop` stops them and resolves with a description of their responses. */
export interface Overload {
  readonly stop: () => Promise<string>;
}

const perSecond = 60;
const works = ['create', 'list 20', 'list 2000'] as const;
const aloneMs = 4000;
const maxDelayMs = 1000;

/**
 * Returns a scenario in which some clients overload the server. Another user creates plants, lists 20 plants and lists
 * 2000 plants, at a fixed rate. The server must serve all of this user's requests. The 99th percentile of their latency
 * must be at most a second longer than without the overload.
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

/** Returns how many requests were refused, were ended by a closed connection, or got no response. */
function failuresOf({ statuses, closed, unanswered, served }: StatsReport): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0) - served + closed + unanswered;
}
