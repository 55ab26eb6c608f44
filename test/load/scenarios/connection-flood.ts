import { readFileSync } from 'node:fs';
import { creatingUser } from '../../bench/data-set.ts';
import type { ClosedLoopReport } from '../clients/closed-loop.ts';
import type { FloodReport } from '../clients/flood.ts';
import { startLoad } from '../clients/start-load.ts';
import type { RunningLoad } from '../clients/start-load.ts';
import { describeRegularClients } from '../regular-clients.ts';
import type { ScenarioRunner } from '../scenario-runner.ts';

const perProcess = 10_000;
/** Few, because a busy server accepts only one connection in each event loop iteration. */
const clients = 4;

/** More connections than the server accepts, or than the system allows. */
export async function connectionFlood(runner: ScenarioRunner, attempts: number): Promise<void> {
  const scenario = `${attempts.toLocaleString('en-US')} new connections, ${clients} clients list 20`;
  await runner.run(scenario, async ({ port }) => {
    const list = (milliseconds: number): RunningLoad<ClosedLoopReport> =>
      startLoad('runClosedLoop', { port, connections: clients, milliseconds, work: 'list 20', users: [creatingUser] });
    const alone = await list(1000).report;
    const listing = list(12_000);
    await listing.ready;
    const floods = Array.from({ length: Math.ceil(attempts / perProcess) }, (_, group) =>
      startLoad('floodConnections', { port, attempts: perProcess, milliseconds: 9000, group, holdMs: 1000 }),
    );
    const start = performance.now();
    await Promise.all(floods.map(({ ready }) => ready));
    const seconds = (performance.now() - start) / 1000;
    const reports = await Promise.all(floods.map(({ report }) => report));
    const stats = await listing.report;
    const sum = (of: (report: FloodReport) => number): number =>
      reports.reduce((total, report) => total + of(report), 0);
    const connected = sum((report) => report.connected);
    const closedAtOnce = sum((report) => report.closedAtOnce);
    const open = sum((report) => report.open);
    const closedLater = connected - closedAtOnce - open;
    const failures = reports.map(({ failed }) => JSON.stringify(failed)).filter((text) => text !== '{}');
    return {
      stats,
      refused: `${closedAtOnce} connections closed at once`,
      notes: [
        describeRegularClients(stats, alone),
        `${connected} of ${attempts} connected in ${seconds.toFixed(1)} s`,
        `${closedAtOnce} were closed within a second, ${closedLater} later, and ${open} were open at the end`,
        `the process may open ${openFileLimit()} files`,
        ...(failures.length > 0 ? [`failed attempts: ${failures.join(' ')}`] : []),
      ],
    };
  });
}

function openFileLimit(): string {
  try {
    return /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? '?';
  } catch {
    return 'an unknown number of';
  }
}
