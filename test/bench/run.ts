import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { describeMachine } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { maxDeviation, publish, quantile } from './publish.ts';
import type { Figures, RowResult } from './publish.ts';
import { bareName, candidates, startCandidate } from './servers.ts';
import type { Candidate, Server } from './servers.ts';
import { rows, runLoad, slowDiskName } from './workloads.ts';
import type { Row } from './workloads.ts';

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
/** How long each server is measured in each round; four times as long in rows with few requests. */
const seconds = 0.5;

/** Each server's figures in a round, by name. */
type Round = Readonly<Record<string, Figures>>;

/** Adds a second server with the other build after each Plant Store, and omits Fastify. */
function compare(selected: readonly Candidate[], folder: string): readonly Candidate[] {
  return selected
    .filter(({ peer }) => peer !== 'fastify')
    .flatMap((each) => (each.peer ? [each] : [each, { ...each, name: `${each.name} (against)`, folder }]));
}

async function measure(candidate: Candidate, row: Row): Promise<Figures> {
  let server = running.get(candidate.name) ?? (await startCandidate(candidate, cluster, cleanUp));
  if (row.afterRestart) server = await server.restart();
  running.set(candidate.name, server);
  const hasFewRequests = row.kind === 'whole list' || row.name === slowDiskName;
  const milliseconds = seconds * 1000 * (hasFewRequests ? 4 : 1);
  const before = await server.usage();
  const databaseBefore = await cluster.cpuMicros();
  const lists = { kind: 'list 20', user: 'ada', connections: 16 };
  const [load, beside] = await Promise.all([
    runLoad(server.port, row, milliseconds),
    row.name === slowDiskName ? runLoad(server.port, lists, milliseconds) : undefined,
  ]);
  const databaseAfter = await cluster.cpuMicros();
  const { cpuMicros, loopDelayMs, peakMiB } = await server.usage();
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

async function runRound(participants: readonly Candidate[], row: Row): Promise<Round> {
  const round: Record<string, Figures> = {};
  for (const candidate of participants) round[candidate.name] = await measure(candidate, row);
  return round;
}

/** Runs rounds until the machine has been steady in `rounds` of them. Prints and returns their medians. */
async function runRow(row: Row): Promise<RowResult> {
  const participants = selected.filter(({ name }) => row.candidates.test(name));
  await runRound(participants, row); // A warm-up.
  const all: Round[] = [];
  while (all.length < Math.floor(rounds * 1.5) && steadyOf(all).length < rounds) {
    // The order alternates, so that a gradual change in the machine's speed does not favor one participant of a pair.
    all.push(await runRound(all.length % 2 === 0 ? participants.toReversed() : participants, row));
  }
  const steady = steadyOf(all);
  const medians = Object.fromEntries(participants.map(({ name }) => [name, mediansOf(name, steady)]));
  console.log(`\n${row.name}: ${steady.length} of ${all.length} rounds were steady`);
  console.table(medians);
  return { name: row.name, rounds: all.length, steady: steady.length, medians };
}

/** Returns the rounds in which the bare server was close to its median; all rounds if it does not participate. */
function steadyOf(all: readonly Round[]): readonly Round[] {
  const median = quantile(all.map(microsOf(bareName)), 0.5);
  return all.filter((round) => !(Math.abs(microsOf(bareName)(round) / median - 1) > maxDeviation));
}

const microsOf =
  (name: string) =>
  (round: Round): number =>
    round[name]?.['cpuMicros'] ?? NaN;

/** Also returns the ratio of a server's CPU time to that of the other build, or of the bare server. */
function mediansOf(name: string, steady: readonly Round[]): Figures {
  const against = `${name} (against)`;
  const base = selected.some((each) => each.name === against) ? against : bareName;
  const ratios = steady.map((round) => microsOf(name)(round) / microsOf(base)(round));
  const [lowerRatio = NaN, ratio = NaN, upperRatio = NaN] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share));
  const figures = steady.map((round) => round[name] ?? {});
  const medians = Object.keys(figures[0] ?? {}).map((key): [string, number] => {
    const sample = figures.map((each) => each[key] ?? NaN);
    return [key, quantile(sample, 0.5)];
  });
  return { ...Object.fromEntries(medians), lowerRatio, ratio, upperRatio };
}

const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { encoding: 'utf8' }).trim();
const date = new Date().toISOString().slice(0, 10);
const matching = candidates.filter(({ name }) => new RegExp(values.candidates, 'i').test(name));
const selected = values.against === undefined ? matching : compare(matching, values.against);
// The peers need these packages.
const install = ['ci', '--prefix', join(root, 'test/bench'), '--no-audit', '--no-fund'];
if (values.against === undefined) execFileSync('npm', install, { stdio: 'inherit' });
process.once('SIGINT', () => process.exit(1));
await using cleanUp = new CleanUp();
const cluster = await PostgresCluster.start(cleanUp, { fsync: true });
const running = new Map<string, Server>();
const results: RowResult[] = [];
for (const row of rows) if (new RegExp(values.workloads, 'i').test(row.name)) results.push(await runRow(row));
// The documentation shows the results of a run without options.
if (process.argv.length === 2) {
  await publish({ date, commit, machine: describeMachine(), rounds, seconds, rows: results });
}
