import { readFileSync } from 'node:fs';
import { creatingUser } from '../bench/garden.ts';
import type { LoopReport } from './closed-loop.ts';
import { generate } from './generate.ts';
import type { Generator } from './generate.ts';
import { comparison } from './lingerers.ts';
import type { Stage } from './stage.ts';

const perGenerator = 10_000;
/** Few, because a server takes no more than one connection between doing other things. */
const clients = 4;

/** More connections than the server takes, or the system allows it. */
export async function connectionFlood(stage: Stage, attempts: number): Promise<void> {
  await stage.play(
    `${attempts.toLocaleString('en-US')} connections at once, ${clients} clients list 20`,
    async ({ port }) => {
      const listBeside = (milliseconds: number): Generator<LoopReport> =>
        generate('runLoop', { port, connections: clients, milliseconds, work: 'list 20', users: [creatingUser] });
      const alone = await listBeside(1000).report;
      const beside = listBeside(12_000);
      await beside.ready;
      const floods = Array.from({ length: Math.ceil(attempts / perGenerator) }, (_, group) =>
        generate('flood', { port, attempts: perGenerator, milliseconds: 9000, group, holdMs: 1000 }),
      );
      const start = performance.now();
      await Promise.all(floods.map(({ ready }) => ready));
      const seconds = (performance.now() - start) / 1000;
      const reports = await Promise.all(floods.map(({ report }) => report));
      const tally = await beside.report;
      const sum = (of: (report: (typeof reports)[number]) => number): number =>
        reports.reduce((total, report) => total + of(report), 0);
      const [connected, closedAtOnce, open] = [
        sum((each) => each.connected),
        sum((each) => each.closedAtOnce),
        sum((each) => each.open),
      ];
      const failures = reports.map(({ failed }) => JSON.stringify(failed)).filter((text) => text !== '{}');
      return {
        tally,
        refused: `${closedAtOnce} connections closed at once`,
        notes: [
          comparison(tally, alone),
          `${connected} of ${attempts} connected in ${seconds.toFixed(1)} s, of which ${closedAtOnce} were closed within a second, ${connected - closedAtOnce - open} later, and ${open} were held; the process may have ${openFileLimit()} files open`,
          ...(failures.length > 0 ? [`attempts that failed: ${failures.join(' ')}`] : []),
        ],
      };
    },
  );
}

function openFileLimit(): string {
  try {
    return /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? '?';
  } catch {
    return 'an unknown number of';
  }
}
