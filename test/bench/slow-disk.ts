import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCandidates } from './candidates.ts';
import type { Candidate, CandidateOptions } from './candidates.ts';
import { runLoad } from './load.ts';
import { aligned, median, quantile } from './report.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

/** The name of this workload: 8 connections create plants while 16 list 20 plants, and each fsync takes 10 ms longer. */
export const slowDiskName = 'mixed on a slow disk';

/** What to run, and how. */
export interface SlowDiskOptions extends Pick<CandidateOptions, 'isSelected' | 'against'> {
  readonly rounds: number;
  readonly milliseconds: number;
  /** A temporary folder. */
  readonly parent: string;
}

interface Sample {
  readonly creates: number;
  readonly lists: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly loopDelayMs: number;
}

/** Runs the workload on the candidates that use SQLite. Returns a table, or the reason why nothing was run. */
export async function runOnSlowDisk({ isSelected, against, parent, ...options }: SlowDiskOptions): Promise<string> {
  const folder = join(parent, 'slow-disk');
  await mkdir(folder);
  const library = join(folder, 'slow-sync.so');
  const source = fileURLToPath(new URL('slow-sync.c', import.meta.url));
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'], { encoding: 'utf8' });
  if (compiled.status !== 0) return `\n${slowDiskName}: NOT RUN. It needs a C compiler (cc) and LD_PRELOAD.\n`;
  const candidates = await startCandidates({
    folder,
    isSelected: (name) => /sqlite/i.test(name) && isSelected(name),
    against,
    createPostgresDatabase: () => Promise.reject(new Error('No candidate uses PostgreSQL here.')),
    env: { LD_PRELOAD: library },
  });
  try {
    return await table(candidates, options);
  } finally {
    await Promise.all(candidates.map(({ server }) => server.stop()));
  }
}

async function table(
  candidates: readonly Candidate[],
  { rounds, milliseconds }: Pick<SlowDiskOptions, 'rounds' | 'milliseconds'>,
): Promise<string> {
  const participants = candidates.map((candidate) => ({ candidate, samples: [] as Sample[] }));
  for (let round = -1; round < rounds; round++) {
    for (const { candidate, samples } of participants) {
      const sample = await measure(candidate, milliseconds);
      // Round -1 warms up.
      if (round >= 0) samples.push(sample);
    }
  }
  const header = ['', 'creates/s', 'lists/s', 'list p50 ms', 'list p99 ms', 'event loop delay p99 ms'];
  const rows = participants.map(({ candidate, samples }) => {
    const medianOf = (key: keyof Sample): number => median(samples.map((sample) => sample[key]));
    return [
      candidate.name,
      medianOf('creates').toFixed(0),
      medianOf('lists').toFixed(0),
      medianOf('p50Ms').toFixed(2),
      medianOf('p99Ms').toFixed(2),
      medianOf('loopDelayMs').toFixed(2),
    ];
  });
  return `\n${slowDiskName}: 8 connections create, 16 list 20, each fsync takes 10 ms longer\n${aligned(header, rows)}`;
}

async function measure(candidate: Candidate, milliseconds: number): Promise<Sample> {
  const [create, list] = await Promise.all(['create', 'list 20'].map((name) => workloadOf(name).prepare(candidate)));
  if (create === undefined || list === undefined) throw new Error('A workload is missing.');
  const { port } = candidate.server;
  // Only the delays from now on count.
  await candidate.server.usage();
  const [creates, lists] = await Promise.all([
    runLoad({ port, connections: 8, milliseconds, next: create }),
    runLoad({ port, connections: 16, milliseconds, next: list }),
  ]);
  const { loopDelayMs } = await candidate.server.usage();
  return {
    creates: creates.requestsPerSecond,
    lists: lists.requestsPerSecond,
    p50Ms: quantile(lists.latencies, 0.5),
    p99Ms: quantile(lists.latencies, 0.99),
    loopDelayMs,
  };
}

function workloadOf(name: string): Workload {
  const workload = workloads.find((each) => each.name === name);
  if (workload === undefined) throw new Error(`There is no workload '${name}'.`);
  return workload;
}
