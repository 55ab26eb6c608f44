import { creatingUser } from '../bench/data-set.ts';
import type { ClosedLoopReport } from './clients/closed-loop.ts';
import { startLoad } from './clients/start-load.ts';

/** Runs clients that create plants, each on its own connection, and send their next request after a response. */
export function runRegularClients(port: number, milliseconds: number, connections = 64): Promise<ClosedLoopReport> {
  const options = { port, connections, milliseconds, work: 'create', users: [creatingUser] } as const;
  return startLoad('runClosedLoop', options).report;
}

/** Compares what regular clients measured during a scenario with what they measured alone. */
export function describeRegularClients(stats: ClosedLoopReport, alone: ClosedLoopReport): string {
  const before = `alone ${alone.servedPerSecond.toFixed(0)} per second, p99 ${alone.p99Ms.toFixed(1)} ms`;
  const slowest = `slowest response ${stats.maxMs.toFixed(0)} ms`;
  return `regular clients, served in each second: ${stats.bySecond.join(' ')}; ${slowest}; ${before}`;
}
