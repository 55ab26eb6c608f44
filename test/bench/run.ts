import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { describeMachine } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { maxDeviation, publish } from './publish.ts';
import type { Figures, RowResult } from './publish.ts';
import { against, bareName, listCandidates, startCandidate } from './servers.ts';
import type { Candidate, Server } from './servers.ts';
import { checkList, rowName, runLoad, workloads } from './workloads.ts';
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
/** How long each server is measured in each round; four times as long if it sends whole lists. */
const seconds = 0.5;
const besideConnections = 16;
const maxRepetition = 1.5;

/** Each server's figures in a round, by name. A server has no figures if no work was left. */
type Round = ReadonlyMap<string, Figures>;

async function measure(candidate: Candidate, workload: Workload, connections: number): Promise<Figures | undefined> {
  const { name } = candidate;
  let server = running.get(name) ?? (await startCandidate(candidate, cluster, cleanUp));
  if (workload.afterRestart === true && server.restart !== undefined) server = await server.restart();
  running.set(name, server);
  const milliseconds = seconds * 1000 * (workload.name === 'whole list' ? 4 : 1);
  const before = await server.usage();
  const databaseBefore = await cluster.cpuMicros();
  const [load, beside] = await Promise.all([
    runLoad({ name, port: server.port }, workload, connections, milliseconds),
    workload.beside && runLoad({ name, port: server.port }, workload.beside, besideConnections, milliseconds),
  ]);
  const databaseAfter = await cluster.cpuMicros();
  const { cpuMicros, loopDelayMs, peakMiB } = await server.usage();
  if (load === undefined || load.requests === 0) return undefined;
  const requests = load.requests + (beside?.requests ?? 0);
  const { p50Ms, p99Ms } = beside ?? load;
  return {
    cpuMicros: (cpuMicros - before.cpuMicros) / requests,
    databaseMicros: (databaseAfter - databaseBefore) / requests,
    requestsPerSecond: load.requestsPerSecond,
    ...(beside && { besidePerSecond: beside.requestsPerSecond }),
    p50Ms,
    p99Ms,
    loopDelayMs,
    peakMiB,
  };
}

/**
 * Runs rounds until the machine has been steady in `rounds` of them, but at most one and a half times as many. Prints
 * and returns the medians of the steady rounds.
 */
async function runRow(name: string, workload: Workload, connections: number): Promise<RowResult> {
  const participants = candidates.filter((each) => workload.candidates.test(each.name));
  const all: Round[] = [];
  // The first round is a warm-up.
  for (let n = 0; n <= rounds || (n <= rounds * maxRepetition && steadyOf(all).length < rounds); n++) {
    const round = new Map<string, Figures>();
    // The order alternates, so that a gradual change in the machine's speed does not favor one participant of a pair.
    for (const candidate of n % 2 === 0 ? participants : participants.toReversed()) {
      const figures = await measure(candidate, workload, connections);
      const server = running.get(candidate.name);
      if (n === 0 && server !== undefined) await checkList(server.port, workload);
      if (figures !== undefined) round.set(candidate.name, figures);
    }
    if (n > 0) all.push(round);
  }
  const steady = steadyOf(all);
  const medians = Object.fromEntries(participants.map((each) => [each.name, mediansOf(each.name, steady)]));
  console.log(`\n${name}: ${steady.length} of ${all.length} rounds were steady`);
  console.table(Object.fromEntries(participants.map((each) => [each.name, withRatio(each.name, medians, steady)])));
  return { name, rounds: all.length, steady: steady.length, medians };
}

/** Returns the rounds in which the bare server, whose work is always the same, was close to its median; or else all. */
function steadyOf(all: readonly Round[]): readonly Round[] {
  const middle = quantile(
    all.map((round) => microsIn(round, bareName)),
    0.5,
  );
  return all.filter((round) => !(Math.abs(microsIn(round, bareName) / middle - 1) > maxDeviation));
}

/** Adds the quartiles of the ratios of a server's CPU time to that of the other build, or of the bare server. */
function withRatio(name: string, medians: RowResult['medians'], steady: readonly Round[]): object {
  const base = against(name) in medians ? against(name) : bareName;
  const ratios = steady.map((round) => microsIn(round, name) / microsIn(round, base));
  const [lower, ratio, upper] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share));
  return { ...medians[name], 'ratio, 25 %': lower, ratio, 'ratio, 75 %': upper, to: base };
}

const microsIn = (round: Round, name: string): number => round.get(name)?.['cpuMicros'] ?? NaN;

function mediansOf(name: string, all: readonly Round[]): Figures {
  const figures = all.map((round) => round.get(name) ?? {});
  const keys = new Set(figures.flatMap(Object.keys));
  const medianOf = (key: string): number =>
    quantile(
      figures.map((each) => each[key] ?? NaN),
      0.5,
    );
  return Object.fromEntries(Array.from(keys, (key) => [key, medianOf(key)]));
}

/** Returns a quantile with linear interpolation, to five digits; NaN for an empty array. */
function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers.filter((number) => !Number.isNaN(number))).sort();
  const position = (sorted.length - 1) * share;
  const [below = NaN, above = NaN] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return Number((below + (above - below) * (position % 1)).toPrecision(5));
}

const matches = (pattern: string, name: string): boolean => new RegExp(pattern, 'i').test(name);
const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { encoding: 'utf8' }).trim();
const date = new Date().toISOString().slice(0, 10);
// The peers and the chart need these packages.
const install = ['ci', '--prefix', join(root, 'test/bench'), '--no-audit', '--no-fund'];
if (values.against === undefined) execFileSync('npm', install, { stdio: 'inherit' });
process.once('SIGINT', () => process.exit(1));
await using cleanUp = new CleanUp();
const cluster = await PostgresCluster.start(cleanUp, { fsync: true });
const running = new Map<string, Server>();
const candidates = listCandidates((name) => matches(values.candidates, name), values.against);
const rows: RowResult[] = [];
for (const workload of workloads) {
  for (const connections of workload.connections ?? [64, 1]) {
    const name = rowName(workload.name, connections);
    if (matches(values.workloads, name)) rows.push(await runRow(name, workload, connections));
  }
}
// The documentation shows the results of a run without options.
const results = { date, commit, machine: describeMachine(), rounds, seconds, rows };
if (process.argv.length === 2) await publish(results);
