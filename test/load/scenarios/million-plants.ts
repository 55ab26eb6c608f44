import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPlantStoreDatabase, listedUser, otherUsers } from '../../bench/data-set.ts';
import type { ClosedLoopReport } from '../clients/closed-loop.ts';
import { startLoad } from '../clients/start-load.ts';
import { describeRegularClients, runRegularClients } from '../regular-clients.ts';
import type { ScenarioContext, ScenarioRunner } from '../scenario-runner.ts';

const plantCount = 1_000_000;
const shortListUsers = otherUsers.slice(0, 64);
const measuredMs = 8000;
const maxFillMs = 20_000;
const maxStuckMs = 72_000;

/** Scenarios with one user who has a million plants, and 64 others with a thousand each. */
export class MillionPlants {
  readonly #runner: ScenarioRunner;
  #database: Promise<string> | undefined;

  constructor(runner: ScenarioRunner) {
    this.#runner = runner;
  }

  /** Clients that request the long list and read it slowly, or not at all. */
  async slowReaders(): Promise<void> {
    const baseline = await this.#runner.baseline();
    const [slow, stuck] = [150, 50];
    await this.#run(`${slow + stuck} slow readers of a million plants, 64 clients create`, async (context) => {
      const { server, port } = context;
      const filesBefore = server.watch.openFiles();
      const options = { slow, stuck, bytesPerSecond: 1024, target: '/plants', user: listedUser };
      const readers = startLoad('readSlowly', { port, ...options, milliseconds: maxStuckMs });
      await readers.ready;
      const start = performance.now();
      const stats = await runRegularClients(port, measuredMs);
      // The next scenarios must not run while this one still uses the CPU.
      const filling = await untilIdle(context, start);
      const laterNotes = async (): Promise<string[]> => {
        const closed = await untilClosed(context, filesBefore, slow + stuck, start, start + maxStuckMs - 1000);
        readers.stop();
        await readers.report;
        return [`of ${slow} readers of 1 KB per second and ${stuck} of nothing, the server closed ${closed}`];
      };
      return { stats, notes: [describeRegularClients(stats, baseline), filling], laterNotes };
    });
  }

  /** One client that reads the long list as fast as it can, while others request short ones. */
  async fastReader(target: string): Promise<void> {
    await this.#run(`one fast reader of GET ${target} of a million plants, 64 clients list 20`, async ({ port }) => {
      const listShort = (milliseconds: number): Promise<ClosedLoopReport> => {
        const options = { connections: 64, milliseconds, work: 'list 20', users: shortListUsers } as const;
        return startLoad('runClosedLoop', { port, ...options }).report;
      };
      const alone = await listShort(3000);
      const reader = startLoad('readFast', { port, target, user: listedUser, milliseconds: 6000 });
      await reader.ready;
      const stats = await listShort(5000);
      const { lists, megabytesPerSecond } = await reader.report;
      const readerNote = `the reader: ${lists} lists, ${megabytesPerSecond.toFixed(1)} MB/s`;
      return { stats, notes: [describeRegularClients(stats, alone), readerNote] };
    });
  }

  /** Clients that pipeline requests for lists, and read no response. */
  async pipelining(options: { connections: number; requests: number; target: string }): Promise<void> {
    const { connections, requests, target } = options;
    const clients = connections === 1 ? 'one client pipelines' : `${connections} clients pipeline`;
    const count = requests.toLocaleString('en-US');
    const scenario = `${clients} ${count} × GET ${target} without reading, 64 clients create`;
    await this.#run(scenario, async ({ server, port }) => {
      const load = startLoad('pipelineRequests', { port, ...options, user: listedUser, milliseconds: 30_000 });
      await load.ready;
      const stats = await runRegularClients(port, measuredMs);
      const openFiles = server.watch.openFiles();
      load.stop();
      const { sent, closed } = await load.report;
      return {
        stats,
        notes: [
          describeRegularClients(stats, await this.#runner.baseline()),
          `${sent} of ${connections * requests} requests sent, ${closed} connections closed, ${openFiles} files open`,
        ],
      };
    });
  }

  async #run(scenario: string, work: Parameters<ScenarioRunner['run']>[1]): Promise<void> {
    this.#database ??= createMillionPlants(this.#runner.folder);
    const database = join(this.#runner.folder, `${performance.now()}.db`);
    await copyFile(await this.#database, database);
    await this.#runner.run(scenario, work, { database });
  }
}

async function createMillionPlants(folder: string): Promise<string> {
  const path = join(folder, 'million.db');
  await createPlantStoreDatabase(path, function* () {
    for (let n = 1; n <= plantCount; n++) yield [listedUser, n, n] as const;
    for (const user of shortListUsers) for (let n = 0; n < 1000; n++) yield [user, n, n] as const;
  });
  return path;
}

/** Waits until the server no longer uses the CPU to fill the buffers of the connections. */
async function untilIdle({ server }: ScenarioContext, start: number): Promise<string> {
  const deadline = performance.now() + maxFillMs;
  for (let before = server.watch.cpuSeconds(); performance.now() < deadline;) {
    await sleep(500);
    const now = server.watch.cpuSeconds();
    // The comparison is false for NaN, on systems that do not report the CPU time.
    if (!(now - before > 0.1)) return `the server filled the buffers of the readers within ${secondsSince(start)} s`;
    before = now;
  }
  return `the server was still filling the buffers of the readers after ${secondsSince(start)} s`;
}

/** Waits until the server has closed these connections. Returns how many it closed, and when. */
async function untilClosed(
  { server }: ScenarioContext,
  filesBefore: number,
  count: number,
  start: number,
  deadline: number,
): Promise<string> {
  let first: string | undefined;
  let open = count;
  while (performance.now() < deadline && open > 0) {
    await sleep(250);
    open = Math.min(count, Math.max(0, server.watch.openFiles() - filesBefore));
    if (open < count) first ??= secondsSince(start);
    // Another file was open for a moment.
    else first = undefined;
  }
  if (open === count) return `none within ${secondsSince(start)} s`;
  return `${count - open} after ${first ?? ''} to ${secondsSince(start)} s`;
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(0);
}
