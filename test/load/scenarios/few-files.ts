import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { creatingUser, listedUser } from '../../bench/data-set.ts';
import { requestOnce } from '../clients/held-connections.ts';
import type { ArrivalReport, HoldReport } from '../clients/held-connections.ts';
import { startLoad } from '../clients/start-load.ts';
import type { ScenarioContext, ScenarioRunner } from '../scenario-runner.ts';
import { revokeToken } from './revocation.ts';

export interface FewFiles {
  /** The limit of open files of the server. */
  readonly maxOpenFiles: number;
  readonly idleClients: number;
  /** Whether an idle client opens a new connection when the server has closed the one before. */
  readonly reconnects: boolean;
}

const holdMs = 25_000;

/**
 * The server may open few files, and clients without a token hold more idle connections than that. New
 * clients with a token should still be served, the log should report the closed connections, and a
 * token that is revoked meanwhile should be refused.
 */
export async function fewFiles(
  runner: ScenarioRunner,
  { maxOpenFiles, idleClients, reconnects }: FewFiles,
): Promise<void> {
  if (spawnSync('prlimit', ['--version']).status !== 0) {
    console.error('NOT RUN: few files. It needs prlimit.');
    return;
  }
  const how = reconnects ? ' that reconnect when they are closed' : '';
  const scenario = `${maxOpenFiles} open files, ${idleClients} idle clients without a token${how}`;
  await runner.run(
    scenario,
    async (context) => {
      const { port } = context;
      const idle = { connections: idleClients, milliseconds: holdMs, reconnects };
      const holding = startLoad('holdConnections', { port, ...idle });
      await Promise.race([holding.ready, sleep(10_000)]);
      const arrived = await startLoad('arriveOneByOne', { port, clients: 50, everyMs: 200, user: listedUser }).report;
      const revoked = await revocationTakesEffect(context);
      const held = await holding.report;
      const log = context.server.faults().size === 0 ? 'no entry' : 'see below';
      return {
        notes: [
          `50 new clients: ${describeArrivals(arrived)}`,
          `idle clients: ${describeHeld(held)}`,
          `a token revoked meanwhile: ${revoked}`,
          `the log: ${log}`,
        ],
      };
    },
    { maxOpenFiles },
  );
}

export function describeArrivals({ statuses, refused, unanswered, longestMs }: ArrivalReport): string {
  const failed = `${refused} reset or closed, ${unanswered} without a response within 5 s`;
  return `responses by status ${JSON.stringify(statuses)}, ${failed}; longest wait ${longestMs.toFixed(0)} ms`;
}

function describeHeld({ responded, refused, closedLater, openAtEnd }: HoldReport): string {
  const ends = `${closedLater} were closed later, ${openAtEnd} were open at the end`;
  return `${responded} connections got a response, ${refused} were reset or closed before; ${ends}`;
}

/** Revokes a token and uses it once a second until it is refused. */
async function revocationTakesEffect(context: ScenarioContext): Promise<string> {
  await revokeToken(context);
  const seen: (number | string)[] = [];
  for (let second = 1; second <= 6; second++) {
    await sleep(1000);
    const outcome = await requestOnce(context.port, creatingUser);
    seen.push(outcome);
    if (outcome === 401) break;
  }
  return `used once a second after that: ${seen.join(', ')}`;
}
