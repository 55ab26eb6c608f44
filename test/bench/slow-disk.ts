import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Running } from './candidates.ts';
import { listedUser } from './data-set.ts';
import { runLoad } from './load.ts';
import { quantile } from './report.ts';
import type { Participant } from './rounds.ts';
import { nextCreate, prepareList } from './workloads.ts';

/** The row in which 8 connections create plants, 16 connections list 20 plants, and each fsync takes 10 ms longer. */
export const slowDiskName = 'slow disk';

/** Compiles a library that delays each fsync. Returns the environment variables with which a process preloads it. */
export function compileSlowSync(folder: string): NodeJS.ProcessEnv {
  const library = join(folder, 'slow-sync.so');
  const source = fileURLToPath(new URL('slow-sync.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'inherit' });
  return { LD_PRELOAD: library };
}

/** Creates plants and lists plants at the same time on one server. */
export async function onSlowDisk(candidate: Running, milliseconds: number): Promise<Participant> {
  const { server, name } = candidate;
  const nextList = await prepareList(candidate, listedUser, 20);
  const measure: Participant['measure'] = async () => {
    const before = await server.usage();
    const [creates, lists] = await Promise.all([
      runLoad({ port: server.port, connections: 8, milliseconds, next: nextCreate }),
      runLoad({ port: server.port, connections: 16, milliseconds, next: nextList }),
    ]);
    const after = await server.usage();
    return {
      cpuMicros: (after.cpuMicros - before.cpuMicros) / (creates.requests + lists.requests),
      createsPerSecond: creates.requestsPerSecond,
      listsPerSecond: lists.requestsPerSecond,
      p99Ms: quantile(lists.latencies, 0.99),
      loopDelayMs: after.loopDelayMs,
    };
  };
  return { name, measure };
}
