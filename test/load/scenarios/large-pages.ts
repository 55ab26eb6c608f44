import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from '../clients/start-load.ts';
import type { ScenarioRunner } from '../scenario-runner.ts';
import { growthVerdict } from './hostile-readers.ts';
import { createDatabase, describeBurst, greedyUser } from './two-users.ts';

// Clients request a list of 40,000 plants without a limit. The first page of the list has 43 KB, which the system
// buffers. Each other page has almost 256 KiB, which is the largest page, and the server must not keep one for each
// client.

const plants = 40_000;
const heapMiB = 512;
const maxMs = 60_000;
const fillMs = 10_000;

/** Many clients read fast. A server with a small heap must survive that. */
export async function fastReaders(runner: ScenarioRunner, connections: number): Promise<void> {
  const database = await createLargePages(runner.folder);
  await runner.run(
    `${connections.toLocaleString('en-US')} fast readers of 40,000 plants, a heap of ${heapMiB} MB`,
    async ({ server, port }) => {
      const options = { connections, method: 'GET', target: '/plants', user: greedyUser, milliseconds: maxMs } as const;
      const burst = await startLoad('sendBurst', { port, ...options }).report;
      const peakMiB = server.watch.peakMemory() / 2 ** 20;
      const outcome = server.isRunning ? 'the server survived' : 'the server ended';
      return {
        verdict: {
          holds: server.isRunning,
          figures: `${outcome}, resident memory at most ${peakMiB.toFixed(0)} MiB`,
        },
        notes: [`the lists: ${describeBurst(burst)}`],
      };
    },
    { database, nodeOptions: [`--max-old-space-size=${heapMiB}`] },
  );
}

/** Clients stop reading after the first pages, so that each waits for a different page. */
export async function stuckReaders(runner: ScenarioRunner, connections: number): Promise<void> {
  const database = await createLargePages(runner.folder);
  await runner.run(
    `${connections} clients stop reading a list of 40,000 plants`,
    async ({ server, port }) => {
      const idle = await server.memory();
      const filesBefore = server.watch.openFiles();
      const options = { slow: 0, bytesPerSecond: 0, stuck: connections, target: '/plants', user: greedyUser };
      const readers = startLoad('readSlowly', { port, ...options, milliseconds: maxMs });
      await readers.ready;
      await sleep(fillMs);
      const held = await server.memory();
      const open = server.watch.openFiles() - filesBefore;
      readers.stop();
      await readers.report;
      return {
        // The peak also depends on when garbage is collected.
        verdict: growthVerdict(held.residentBytes - idle.residentBytes, 'after a garbage collection'),
        notes: [
          `${open} connections were open after ${fillMs / 1000} s`,
          `JavaScript objects and buffers: ${((held.usedBytes - idle.usedBytes) / 2 ** 20).toFixed(0)} MiB above idle`,
        ],
      };
    },
    { database },
  );
}

async function createLargePages(folder: string): Promise<string> {
  const path = await createDatabase(folder, plants, 1000);
  const database = new DatabaseSync(path);
  database.exec("UPDATE plants SET name = printf('%-230s', name) WHERE id > 1000");
  database.close();
  return path;
}
