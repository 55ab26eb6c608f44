import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { creatingUser, listedUser } from '../bench/garden.ts';
import { revoke } from './changes.ts';
import { askOnce } from './few-files-clients.ts';
import type { ArrivalReport, HoldReport } from './few-files-clients.ts';
import { generate } from './generate.ts';
import type { Scene, Stage } from './stage.ts';

/** How many files the server may have open, and how the clients behave that want more. */
export interface FewFiles {
  readonly maxOpenFiles: number;
  readonly idleClients: number;
  readonly isStubborn: boolean;
}

const holdMs = 25_000;

/**
 * The server may have few files open, and clients without a token hold more connections than that,
 * on which nothing happens. New clients with a token should be served all the same, the log should
 * say that connections are given up, and a token that is revoked meanwhile should be refused.
 */
export async function fewFiles(stage: Stage, { maxOpenFiles, idleClients, isStubborn }: FewFiles): Promise<void> {
  if (spawnSync('prlimit', ['--version']).status !== 0) {
    console.error('NOT PLAYED: few files. It needs prlimit.');
    return;
  }
  const how = isStubborn ? ' that reconnect when they are closed' : '';
  const scenario = `${maxOpenFiles} open files, ${idleClients} idle clients without a token${how}`;
  await stage.play(
    scenario,
    async (scene) => {
      const { port } = scene;
      const holding = generate('holdAndReconnect', {
        port,
        connections: idleClients,
        milliseconds: holdMs,
        isStubborn,
      });
      await Promise.race([holding.ready, sleep(10_000)]);
      const arrived = await generate('arrive', { port, clients: 50, everyMs: 200, user: listedUser }).report;
      const revoked = await revocationTakesEffect(scene);
      const held = await holding.report;
      const said = scene.server.faults().size === 0 ? 'nothing about it' : 'see below';
      return {
        notes: [
          `50 new clients: ${describeArrivals(arrived)}`,
          `the idle clients: ${describeHeld(held)}`,
          `a token revoked meanwhile: ${revoked}`,
          `the log: ${said}`,
        ],
      };
    },
    { maxOpenFiles },
  );
}

function describeArrivals({ statuses, refused, unanswered, longestMs }: ArrivalReport): string {
  const failed = `${refused} reset or closed, ${unanswered} unanswered within 5 s`;
  return `responses by status ${JSON.stringify(statuses)}, ${failed}; the longest wait ${longestMs.toFixed(0)} ms`;
}

function describeHeld({ answered, refused, givenUp, openAtEnd }: HoldReport): string {
  const ends = `${givenUp} were closed later, ${openAtEnd} were open at the end`;
  return `${answered} connections had a response, ${refused} were reset or closed before it; ${ends}`;
}

/** Revokes a token and uses it once a second until it is refused. */
async function revocationTakesEffect(scene: Scene): Promise<string> {
  await revoke(scene);
  const seen: (number | string)[] = [];
  for (let second = 1; second <= 6; second++) {
    await sleep(1000);
    const outcome = await askOnce(scene.port, creatingUser);
    seen.push(outcome);
    if (outcome === 401) break;
  }
  return `used once a second after that: ${seen.join(', ')}`;
}
