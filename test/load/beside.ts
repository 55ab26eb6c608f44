import { join } from 'node:path';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { insertAll, listedUser, otherUsers } from '../bench/garden.ts';
import type { BurstReport } from './burst.ts';
import type { ServerUnderLoad } from './server.ts';
import type { SteadyReport } from './steady.ts';

/** Attacks the server, or asks for far more than its share. */
export const greedyUser = listedUser;
/** Makes requests meanwhile that should not suffer. */
export const [politeUser = ''] = otherUsers;

/** Makes a database file in which these two users have this many plants each. */
export async function databaseWith(folder: string, greedyPlants: number, politePlants: number): Promise<string> {
  const path = join(folder, `${performance.now()}.db`);
  await new SqliteStorage(path).close();
  insertAll(path, function* () {
    for (let n = 1; n <= greedyPlants; n++) yield [greedyUser, n, n];
    for (let n = 1; n <= politePlants; n++) yield [politeUser, n, n];
  });
  return path;
}

/** What the polite user saw, one line for each kind of request. */
export function describeSteady({ byWork, failed, sent, longestWaitMs }: SteadyReport): string[] {
  const lines = Object.entries(byWork).map(([work, { statuses, closed, unanswered, p50Ms, p99Ms }]) => {
    const answers = Object.entries(statuses)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ');
    const times = `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}`;
    return `another user's ${work}: ${answers}; ${closed} cut off, ${unanswered} unanswered; ${times}`;
  });
  return [`another user: ${failed} of ${sent} requests failed; the longest wait ${ms(longestWaitMs)}`, ...lines];
}

export function ms(milliseconds: number | undefined): string {
  return milliseconds === undefined || Number.isNaN(milliseconds) ? '–' : `${milliseconds.toFixed(0)} ms`;
}

/** What became of requests that all did the same. */
export function describeBurst({ waitsMs, refused, cutOff, unanswered }: BurstReport): string {
  const served = `${waitsMs.length} served after ${ms(waitsMs[0])} to ${ms(waitsMs.at(-1))}`;
  return `${served}, ${refused} refused, ${cutOff} cut off, ${unanswered} unanswered`;
}

/** Reports the CPU time of the server between two moments. */
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
