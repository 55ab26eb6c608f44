import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { describeMachine } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { runLoad } from './generator.ts';
import { publish } from './publish.ts';
import type { RowResult } from './publish.ts';
import { bareName, mediansOf, microsIn, quantile, runRounds } from './rounds.ts';
import type { Figures, Participant, Round } from './rounds.ts';
import { against, listCandidates, startCandidate } from './servers.ts';
import type { Candidate, Server } from './servers.ts';
import { rowName, workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    /** Regular expressions that select rows and candidates by name. */
    workloads: { type: 'string', default: '.' },
    candidates: { type: 'string', default: '.' },
    /** The folder of another build of this project to compare with. */
    against: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
/** How long each server is measured in each round. */
const seconds = 0.5;
const milliseconds = seconds * 1000;
const besideConnections = 16;

/** Returns a candidate as a participant in a row. */
async function prepare(candidate: Candidate, workload: Workload, connections: number): Promise<Participant> {
  const { name } = candidate;
  let server = running.get(candidate) ?? (await startCandidate(candidate, cluster, cleanUp));
  const next = await workload.prepare({ name, port: server.port });
  const beside = await workload.beside?.({ name, port: server.port });
  const measure = async (): Promise<Figures | undefined> => {
    if (workload.afterRestart === true && server.restart !== undefined) server = await server.restart();
    running.set(candidate, server);
    const { port } = server;
    const before = await server.usage();
    const databaseBefore = await cluster.cpuMicros();
    const [load, other] = await Promise.all([
      runLoad({ port, connections, milliseconds, next }),
      beside && runLoad({ port, connections: besideConnections, milliseconds, next: beside }),
    ]);
    const databaseAfter = await cluster.cpuMicros();
    const { cpuMicros, loopDelayMs, peakMiB } = await server.usage();
    const latencies = (other ?? load).latencies;
    const requests = load.latencies.length + (other?.latencies.length ?? 0);
    if (requests === 0) return undefined;
    return {
      cpuMicros: (cpuMicros - before.cpuMicros) / requests,
      databaseMicros: (databaseAfter - databaseBefore) / requests,
      requestsPerSecond: load.requestsPerSecond,
      ...(other && { besidePerSecond: other.requestsPerSecond }),
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      loopDelayMs,
      peakMiB,
    };
  };
  return [name, measure];
}

/**
 * Prints a row's medians, and the quartiles of the rounds' ratios of the CPU time to that of the other build, or to
 * that of the bare server if there is no other build.
 */
function printRow({ name, rounds, medians }: RowResult, steady: readonly Round[]): void {
  console.log(`\n${name}: ${steady.length} of ${rounds} rounds were steady`);
  const shown = Object.entries(medians).map(([participant, figures]) => {
    const base = against(participant) in medians ? against(participant) : bareName;
    const ratios = steady.map((round) => microsIn(round, participant) / microsIn(round, base));
    const sorted = Float64Array.from(ratios.filter((ratio) => !Number.isNaN(ratio))).sort();
    const [lower, median, upper] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share));
    return [participant, { ...figures, 'ratio, 25 %': lower, ratio: median, 'ratio, 75 %': upper, to: base }];
  });
  console.table(Object.fromEntries(shown));
}

const select = (pattern: string): RegExp => new RegExp(pattern, 'i');
const rows: RowResult[] = [];
const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { encoding: 'utf8' }).trim();
const date = new Date().toISOString().slice(0, 10);
// The peers and the chart need these packages.
const install = ['ci', '--prefix', join(root, 'test/bench'), '--no-audit', '--no-fund'];
if (values.against === undefined) execFileSync('npm', install, { stdio: 'inherit' });
process.once('SIGINT', () => process.exit(1));
await using cleanUp = new CleanUp();
const cluster = await PostgresCluster.start();
cleanUp.after(() => cluster.remove());
const running = new Map<Candidate, Server>();
const candidates = listCandidates(select(values.candidates), values.against);
for (const workload of workloads) {
  for (const connections of workload.connections ?? [64, 1]) {
    const name = rowName(workload.name, connections);
    if (!select(values.workloads).test(name)) continue;
    const participants: Participant[] = [];
    for (const candidate of candidates.filter((each) => workload.candidates.test(each.name))) {
      participants.push(await prepare(candidate, workload, connections));
    }
    const { run, steady } = await runRounds(rounds, participants);
    const row = { name, rounds: run, steady: steady.length, medians: mediansOf(steady) };
    rows.push(row);
    printRow(row, steady);
  }
}
// The documentation shows the results of a run without options.
const results = { date, commit, machine: describeMachine(), rounds, seconds, rows };
if (process.argv.length === 2) await publish(results);
