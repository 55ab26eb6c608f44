import { join } from 'node:path';
import { createPlantStoreDatabase, listedUser, otherUsers } from '../../bench/data-set.ts';
import type { BurstReport } from '../clients/burst.ts';
import type { FixedRateReport } from '../clients/fixed-rate.ts';
import type { ServerUnderLoad } from '../server.ts';

/** Sends far more requests than a fair share, or hostile ones. */
export const greedyUser = listedUser;
/** Sends ordinary requests at the same time, which should not be delayed. */
export const [politeUser = ''] = otherUsers;

/** Creates a database file with the given numbers of plants for the two users, and returns its path. */
export async function createDatabase(folder: string, greedyPlants: number, politePlants: number): Promise<string> {
  const path = join(folder, `${performance.now()}.db`);
  await createPlantStoreDatabase(path, function* () {
    for (let n = 1; n <= greedyPlants; n++) yield [greedyUser, n, n] as const;
    for (let n = 1; n <= politePlants; n++) yield [politeUser, n, n] as const;
  });
  return path;
}

/** Describes the responses to the polite user, one line for each kind of request. */
export function describeFixedRate({ byWork, failed, sent, longestWaitMs }: FixedRateReport): string[] {
  const lines = Object.entries(byWork).map(([work, { statuses, closed, unanswered, p50Ms, p99Ms }]) => {
    const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
    const times = `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`;
    return `another user's ${work}: ${counts.join(', ')}; ${closed} closed, ${unanswered} without a response; ${times}`;
  });
  return [`another user: ${failed} of ${sent} requests failed; longest wait ${ms(longestWaitMs)}`, ...lines];
}

export function ms(milliseconds: number | undefined): string {
  return milliseconds === undefined || Number.isNaN(milliseconds) ? '–' : `${milliseconds.toFixed(0)} ms`;
}

/** Describes the responses to requests that were all the same. */
export function describeBurst({ waitsMs, refused, incomplete, unanswered }: BurstReport): string {
  const served = `${waitsMs.length} served after ${ms(waitsMs[0])} to ${ms(waitsMs.at(-1))}`;
  return `${served}, ${refused} refused, ${incomplete} incomplete, ${unanswered} without a response`;
}

/** Measures the CPU time of the server from its creation. */
export class CpuMeter {
  readonly #server: ServerUnderLoad;
  readonly #secondsBefore: number;
  readonly #start = performance.now();

  constructor(server: ServerUnderLoad) {
    this.#server = server;
    this.#secondsBefore = server.watch.cpuSeconds();
  }

  seconds(): number {
    return this.#server.watch.cpuSeconds() - this.#secondsBefore;
  }

  describe(): string {
    return `${this.seconds().toFixed(1)} s of CPU in ${((performance.now() - this.#start) / 1000).toFixed(1)} s`;
  }
}
