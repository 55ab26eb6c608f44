import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { insertAll, listedUser, otherUsers } from '../bench/garden.ts';
import type { LoopReport } from './closed-loop.ts';
import { generate } from './generate.ts';
import { comparison, createBeside } from './lingerers.ts';
import type { Scene, Stage } from './stage.ts';

const plantCount = 1_000_000;
const shortUsers = otherUsers.slice(0, 64);
const besideMs = 8000;
const maxFillMs = 20_000;
const maxStuckMs = 72_000;

/** A file with a million plants of one user, and a thousand of each of 64 others. */
async function plantMillion(folder: string): Promise<string> {
  const path = join(folder, 'million.db');
  await new SqliteStorage(path).close();
  insertAll(path, function* () {
    for (let n = 1; n <= plantCount; n++) yield [listedUser, n, n];
    for (const user of shortUsers) for (let n = 0; n < 1000; n++) yield [user, n, n];
  });
  return path;
}

export class LongLists {
  readonly #stage: Stage;
  #million: Promise<string> | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Clients that ask for a long list and take little of it, or nothing. */
  async slowReaders(): Promise<void> {
    const baseline = await this.#stage.baseline();
    const [slow, stuck] = [150, 50];
    await this.#play(`${slow + stuck} slow readers of a million plants, 64 clients create`, async (scene) => {
      const filesBefore = scene.server.watch.openFiles();
      const options = {
        slow,
        stuck,
        bytesPerSecond: 1024,
        target: '/plants',
        user: listedUser,
        milliseconds: maxStuckMs,
      };
      const readers = generate('readSlowly', { port: scene.port, ...options });
      await readers.ready;
      const start = performance.now();
      const tally = await createBeside(scene, besideMs);
      // The next scenarios are not to share the machine with this.
      const filling = await untilQuiet(scene, start);
      const tail = async (): Promise<string[]> => {
        const dropped = await untilClosed(scene, filesBefore, slow + stuck, start, start + maxStuckMs - 1000);
        readers.stop();
        await readers.report;
        return [`of the ${slow + stuck} that read 1 KB a second or (${stuck}) nothing, the server closed ${dropped}`];
      };
      return { tally, notes: [comparison(tally, baseline), filling], tail };
    });
  }

  /** One client that takes a long list as fast as it comes, while others ask for short ones. */
  async fastReader(target: string): Promise<void> {
    const scenario = `one fast reader of GET ${target} of a million, 64 clients list 20`;
    await this.#play(scenario, async ({ port }) => {
      const listBeside = (milliseconds: number): Promise<LoopReport> =>
        generate('runLoop', { port, connections: 64, milliseconds, work: 'list 20', users: shortUsers }).report;
      const alone = await listBeside(3000);
      const reader = generate('readFast', { port, target, user: listedUser, milliseconds: 6000 });
      await reader.ready;
      const tally = await listBeside(5000);
      const { lists, megabytesPerSecond } = await reader.report;
      return {
        tally,
        notes: [comparison(tally, alone), `the reader: ${lists} lists, ${megabytesPerSecond.toFixed(1)} MB/s`],
      };
    });
  }

  /** Clients that send one request for a list behind the other, and read none. */
  async pipeliners(options: { connections: number; requests: number; target: string }): Promise<void> {
    const { connections, requests, target } = options;
    const who = connections === 1 ? 'one client' : `${connections} clients`;
    await this.#play(
      `${who} pipelining ${requests.toLocaleString('en-US')} GET ${target}, reading none, 64 clients create`,
      async (scene) => {
        const pipelining = generate('pipeline', {
          port: scene.port,
          ...options,
          user: listedUser,
          milliseconds: 30_000,
        });
        await pipelining.ready;
        const tally = await createBeside(scene, besideMs);
        const openFiles = scene.server.watch.openFiles();
        pipelining.stop();
        const { taken, closed } = await pipelining.report;
        return {
          tally,
          notes: [
            comparison(tally, await this.#stage.baseline()),
            `${taken} of ${connections * requests} requests taken off the client's hands, ${closed} connections closed, ${openFiles} files open in the end`,
          ],
        };
      },
    );
  }

  async #play(scenario: string, work: Parameters<Stage['play']>[1]): Promise<void> {
    this.#million ??= plantMillion(this.#stage.folder);
    const copy = join(this.#stage.folder, `${performance.now()}.db`);
    await copyFile(await this.#million, copy);
    await this.#stage.play(scenario, work, { database: copy });
  }
}

/** Waits until the readers' connections are full, and tells when that was. */
async function untilQuiet({ server }: Scene, start: number): Promise<string> {
  const deadline = performance.now() + maxFillMs;
  for (let before = server.watch.cpuSeconds(); performance.now() < deadline;) {
    await sleep(500);
    const now = server.watch.cpuSeconds();
    // Where the system does not tell, there is no telling.
    if (!(now - before > 0.1)) {
      return `the server was busy filling the readers' connections for ${secondsSince(start)} s at the most`;
    }
    before = now;
  }
  return `the server was still busy filling the readers' connections after ${secondsSince(start)} s`;
}

/** Tells how many of these connections the server closed, and when. */
async function untilClosed(
  { server }: Scene,
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
    // A file that is open for a moment is no connection.
    else first = undefined;
  }
  if (open === count) return `none within ${secondsSince(start)} s`;
  return `${count - open} after ${first ?? ''} to ${secondsSince(start)} s`;
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(0);
}
