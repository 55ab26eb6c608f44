import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { startCandidates } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import { runLoad } from './load.ts';
import { createPostgresDatabase } from './postgres-data.ts';
import { describeMachine, median, quantile, tableOf } from './report.ts';
import type { Measurement } from './report.ts';
import { runOnSlowDisk, slowDiskName } from './slow-disk.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    /** The time of each candidate in a round. */
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1,8,64,256' },
    /** Regular expressions, which the names must match. */
    workloads: { type: 'string', default: '.' },
    candidates: { type: 'string', default: '.' },
    /** The folder for results.json and chart.svg. */
    output: { type: 'string', default: fileURLToPath(new URL('.', import.meta.url)) },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;

/** Measures one workload with one number of connections. In each round, the candidates run one after the other. */
async function measure(
  workload: Workload,
  connections: number,
  candidates: readonly Candidate[],
): Promise<Measurement[]> {
  const participants = await Promise.all(
    candidates
      .filter((candidate) => workload.supports(candidate))
      .map(async (candidate) => ({ candidate, next: await workload.prepare(candidate), samples: [] as Sample[] })),
  );
  for (let round = -1; round < rounds; round++) {
    for (const { candidate, next, samples } of participants) {
      const sample = await measureOnce(candidate, next, connections);
      // Round -1 warms up.
      if (round >= 0 && sample !== undefined) samples.push(sample);
    }
  }
  return participants
    .filter(({ samples }) => samples.length > 0)
    .map(({ candidate, samples }) => ({
      workload: workload.name,
      connections,
      candidate: candidate.name,
      cpuMicros: median(samples.map((sample) => sample.cpuMicros)),
      requestsPerSecond: median(samples.map((sample) => sample.requestsPerSecond)),
      p50Ms: median(samples.map((sample) => sample.p50Ms)),
      p99Ms: median(samples.map((sample) => sample.p99Ms)),
      loopDelayMs: median(samples.map((sample) => sample.loopDelayMs)),
      generatorLoad: median(samples.map((sample) => sample.generatorLoad)),
    }));
}

type Sample = Omit<Measurement, 'workload' | 'connections' | 'candidate'>;

async function measureOnce(
  { server }: Candidate,
  next: Parameters<typeof runLoad>[0]['next'],
  connections: number,
): Promise<Sample | undefined> {
  const before = await server.usage();
  const load = await runLoad({ port: server.port, connections, milliseconds, next });
  const after = await server.usage();
  if (load.requests < 10) return undefined;
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / load.requests,
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: quantile(load.latencies, 0.5),
    p99Ms: quantile(load.latencies, 0.99),
    loopDelayMs: after.loopDelayMs,
    generatorLoad: load.generatorLoad,
  };
}

const matches =
  (pattern: string) =>
  (name: string): boolean =>
    new RegExp(pattern, 'i').test(name);
const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
await mkdir(values.output, { recursive: true });
let cluster: PostgresCluster | undefined;
const candidates = await startCandidates({
  folder,
  isSelected: matches(values.candidates),
  createPostgresDatabase: async () => createPostgresDatabase((cluster ??= await PostgresCluster.start())),
});
try {
  const measurements: Measurement[] = [];
  for (const workload of workloads.filter(({ name }) => matches(values.workloads)(name))) {
    for (const connections of values.connections.split(',').map(Number)) {
      const measured = await measure(workload, connections, candidates);
      process.stdout.write(tableOf(measured));
      measurements.push(...measured);
    }
  }
  if (matches(values.workloads)(slowDiskName)) {
    process.stdout.write(
      await runOnSlowDisk({ isSelected: matches(values.candidates), rounds, milliseconds, parent: folder }),
    );
  }
  const results = join(values.output, 'results.json');
  await writeFile(
    results,
    `${JSON.stringify({ machine: describeMachine(), rounds, milliseconds, measurements }, null, 1)}\n`,
  );
  const chart = spawn(
    process.execPath,
    [fileURLToPath(new URL('chart.js', import.meta.url)), results, join(values.output, 'chart.svg')],
    { stdio: 'inherit' },
  );
  await once(chart, 'exit');
} finally {
  await Promise.all(candidates.map(({ server }) => server.stop()));
  await cluster?.remove();
  await rm(folder, { recursive: true });
}
