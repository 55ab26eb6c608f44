import { setTimeout as sleep } from 'node:timers/promises';
import type { StatsReport } from './clients/response-stats.ts';
import { startLoad } from './clients/start-load.ts';
import { peakBytes } from './process-figures.ts';
import { politeUser } from './run-scenario.ts';
import type { Context, Scenario } from './run-scenario.ts';

/** Clients that overload the server until they are stopped. Then they describe what they have seen. */
export interface Overload {
  readonly stop: () => Promise<string>;
}

interface Options {
  readonly name: string;
  readonly start: (context: Context) => Promise<Overload>;
  /** How far the resident memory may grow above that of the idle server. */
  readonly maxGrowthMiB?: number;
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
  { name, start, maxGrowthMiB = Infinity }: Options,
  settings: Partial<Scenario> = {},
): Scenario {
  return {
    plants: [1000, 5000],
    ...settings,
    name: `${name}, another user sends ${perSecond} requests per second`,
    run: async (context) => {
      const { port, pid } = context.server;
      const send = (milliseconds: number): Promise<StatsReport> =>
        startLoad('runAtFixedRate', { port, user: politeUser, perSecond, milliseconds, works }).report;
      const alone = await send(aloneMs);
      const overload = await start(context);
      await sleep(500);
      const stats = await send(20_000);
      const seen = await overload.stop();
      const failed = failuresOf(stats);
      const growthMiB = (peakBytes(pid) - context.idleBytes) / 2 ** 20;
      const figures = `${failed} of ${stats.served + failed} requests failed, p99 ${stats.p99Ms.toFixed(0)} ms, alone ${alone.p99Ms.toFixed(0)} ms`;
      const growth = `, ${growthMiB.toFixed(0)} MiB above idle at the peak, ${maxGrowthMiB} allowed`;
      return {
        verdict: {
          holds: failed === 0 && stats.p99Ms - alone.p99Ms <= maxDelayMs && !(growthMiB > maxGrowthMiB),
          figures: figures + (maxGrowthMiB === Infinity ? '' : growth),
        },
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
