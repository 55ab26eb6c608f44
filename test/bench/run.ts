import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { findBuild } from './builds.ts';
import { startCandidates } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import { comparisonOf } from './compare.ts';
import type { Participant } from './compare.ts';
import { runLoad } from './load.ts';
import { createPostgresDatabase } from './postgres-data.ts';
import { describeMachine, median, quantile, tableOf } from './report.ts';
import type { Measurement, Sample } from './report.ts';
import { runOnSlowDisk, slowDiskName } from './slow-disk.ts';
import { workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

const { values } = parseArgs({
  options: {
    /** By default 5, or 9 with `--against`. */
    rounds: { type: 'string' },
    /** The time of each candidate in a round. */
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1,8,64,256' },
    /** Requests per second; by default, as many as possible. */
    rate: { type: 'string' },
    /** Regular expressions, which the names must match. */
    workloads: { type: 'string', default: '.' },
    candidates: { type: 'string', default: '.' },
    /** The folders of other builds of this project to compare with. */
    against: { type: 'string', multiple: true, default: [] },
    /** The folder for results.json and chart.svg: by default this folder, or none with `--against`. */
    output: { type: 'string' },
  },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const against = await Promise.all(values.against.map((folder) => findBuild(folder)));
const isComparison = against.length > 0;
const output = values.output ?? (isComparison ? undefined : here);
const rounds = Number(values.rounds ?? (isComparison ? 9 : 5));
const milliseconds = Number(values.seconds) * 1000;
const rate = values.rate === undefined ? undefined : Number(values.rate);

/** Measures one workload with one number of connections. In each round, the candidates run one after the other. */
async function measure(
  workload: Workload,
  connections: number,
  candidates: readonly Candidate[],
): Promise<Participant[]> {
  const participants = await Promise.all(
    candidates
      .filter((candidate) => workload.supports(candidate))
      .map(async (candidate) => ({
        candidate,
        next: await workload.prepare(candidate),
        samples: [] as (Sample | undefined)[],
      })),
  );
  for (let round = -1; round < rounds; round++) {
    // The order alternates, so that a drift of the machine's speed does not favor one server of a pair.
    for (const { candidate, next, samples } of round % 2 === 0 ? participants : participants.toReversed()) {
      const sample = await measureOnce(candidate, next, connections);
      // Round -1 warms up.
      if (round >= 0) samples.push(sample);
    }
  }
  return participants;
}

function mediansOf(workload: Workload, connections: number, participants: readonly Participant[]): Measurement[] {
  return participants.flatMap(({ candidate, samples }) => {
    const measured = samples.filter((sample) => sample !== undefined);
    if (measured.length === 0) return [];
    const medianOf = (key: keyof Sample): number => median(measured.map((sample) => sample[key]));
    return {
      workload: workload.name,
      connections,
      candidate: candidate.name,
      cpuMicros: medianOf('cpuMicros'),
      databaseMicros: medianOf('databaseMicros'),
      requestsPerSecond: medianOf('requestsPerSecond'),
      p50Ms: medianOf('p50Ms'),
      p99Ms: medianOf('p99Ms'),
      loopDelayMs: medianOf('loopDelayMs'),
      generatorLoad: medianOf('generatorLoad'),
    };
  });
}

async function measureOnce(
  { server, usesPostgres }: Candidate,
  next: Parameters<typeof runLoad>[0]['next'],
  connections: number,
): Promise<Sample | undefined> {
  const databaseMicros = async (): Promise<number> => (usesPostgres ? ((await cluster?.cpuMicros()) ?? 0) : 0);
  const before = await server.usage();
  const databaseBefore = await databaseMicros();
  const load = await runLoad({ port: server.port, connections, milliseconds, rate, next });
  const after = await server.usage();
  const databaseAfter = await databaseMicros();
  if (load.requests < 10) return undefined;
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / load.requests,
    databaseMicros: (databaseAfter - databaseBefore) / load.requests,
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: quantile(load.latencies, 0.5),
    p99Ms: quantile(load.latencies, 0.99),
    loopDelayMs: after.loopDelayMs,
    generatorLoad: load.generatorLoad,
  };
}

async function writeResults(output: string, measurements: readonly Measurement[]): Promise<void> {
  await mkdir(output, { recursive: true });
  const results = join(output, 'results.json');
  const head = JSON.stringify({ machine: describeMachine(), rounds, milliseconds }).slice(0, -1);
  const lines = measurements.map((each) => JSON.stringify(each));
  await writeFile(results, `${head},"measurements":[\n${lines.join(',\n')}\n]}\n`);
  execFileSync(process.execPath, [join(here, 'chart.js'), results, join(output, 'chart.svg')], { stdio: 'inherit' });
}

const matches =
  (pattern: string) =>
  (name: string): boolean =>
    new RegExp(pattern, 'i').test(name);
// The peers and the chart need these packages. With `--against` and without `--output`, there are neither.
if (output !== undefined) {
  execFileSync('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund'], { stdio: 'inherit' });
}
const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
let cluster: PostgresCluster | undefined;
let candidates: readonly Candidate[] = [];
try {
  candidates = await startCandidates({
    folder,
    isSelected: matches(values.candidates),
    against,
    createPostgresDatabase: async () => createPostgresDatabase((cluster ??= await PostgresCluster.start())),
  });
  const measurements: Measurement[] = [];
  for (const workload of workloads.filter(({ name }) => matches(values.workloads)(name))) {
    for (const connections of values.connections.split(',').map(Number)) {
      const participants = await measure(workload, connections, candidates);
      const measured = mediansOf(workload, connections, participants);
      process.stdout.write(tableOf(measured));
      if (isComparison) process.stdout.write(comparisonOf(participants));
      measurements.push(...measured);
    }
  }
  if (matches(values.workloads)(slowDiskName)) {
    process.stdout.write(
      await runOnSlowDisk({ isSelected: matches(values.candidates), against, rounds, milliseconds, parent: folder }),
    );
  }
  if (output !== undefined) await writeResults(output, measurements);
} finally {
  await Promise.all(candidates.map(({ server }) => server.stop()));
  await cluster?.remove();
  await rm(folder, { recursive: true });
}
