import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { runLoad } from './generator.ts';
import { publish } from './publish.ts';
import type { RowResult } from './publish.ts';
import { bareName, mediansOf, quantile, rounded, runRounds } from './rounds.ts';
import type { Figures, Participant, Round } from './rounds.ts';
import { listCandidates, Servers } from './servers.ts';
import type { Candidate, Server } from './servers.ts';
import { rowName, workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    /** Regular expressions that select rows and candidates by name. */
    workloads: { type: 'string', default: '.' },
    candidates: { type: 'string', default: '.' },
    /** The folders of other builds of this project to compare with. */
    against: { type: 'string', multiple: true, default: [] },
  },
});
const rounds = Number(values.rounds);
/** How long each server is measured in each round. */
const seconds = 0.5;
const milliseconds = seconds * 1000;
const isComparison = values.against.length > 0;
const besideConnections = 16;

/** Returns a candidate as a participant in a row. Starts the candidate's server if it is not running. */
async function prepare(candidate: Candidate, workload: Workload, connections: number): Promise<Participant> {
  const server = await (running.get(candidate) ?? servers.start(candidate));
  running.set(candidate, server);
  const target = { name: candidate.name, port: server.port };
  const next = await workload.prepare(target);
  const beside = await workload.beside?.(target);
  const measure = async (): Promise<Figures | undefined> => {
    const before = await server.usage();
    const databaseBefore = await servers.databaseMicros();
    const [load, other] = await Promise.all([
      runLoad({ port: server.port, connections, milliseconds, next }),
      beside && runLoad({ port: server.port, connections: besideConnections, milliseconds, next: beside }),
    ]);
    const databaseAfter = await servers.databaseMicros();
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
  return { name: candidate.name, measure };
}

/** Prints a row's medians. Also prints how each CPU time compares to that of the bare server. */
function printRow({ name, rounds, steady, medians }: RowResult): void {
  console.log(`\n${name}: ${steady} of ${rounds} rounds were steady`);
  const bareMicros = medians[bareName]?.cpuMicros ?? NaN;
  const withRatio = Object.entries(medians).map(([participant, figures]) => [
    participant,
    { ...figures, '× bare': rounded(figures.cpuMicros / bareMicros) },
  ]);
  console.table(Object.fromEntries(withRatio));
}

/** Compares this build's CPU time with that of the bare server and of the other builds, round by round. */
function printComparison(steady: readonly Round[], compared: readonly Candidate[]): void {
  const measured = compared.filter(({ name }) => name !== bareName);
  const ratios = measured.map(({ name, base }) => {
    const other = name === base ? bareName : name;
    const each = steady.map((round) => (round.get(base)?.cpuMicros ?? NaN) / (round.get(other)?.cpuMicros ?? NaN));
    const sorted = Float64Array.from(each.filter((ratio) => !Number.isNaN(ratio))).sort();
    const at = (share: number): number => rounded(quantile(sorted, share));
    return [
      `${base} to ${other}`,
      { min: at(0), '25 %': at(0.25), median: at(0.5), '75 %': at(0.75), max: at(1), rounds: sorted.length },
    ];
  });
  console.table(Object.fromEntries(ratios));
}

const matches = (pattern: string, name: string): boolean => new RegExp(pattern, 'i').test(name);
const rows: RowResult[] = [];
const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], { encoding: 'utf8' }).trim();
const date = new Date().toISOString().slice(0, 10);
// The peers and the chart need these packages.
const install = ['ci', '--prefix', join(root, 'test/bench'), '--no-audit', '--no-fund'];
if (!isComparison) execFileSync('npm', install, { stdio: 'inherit' });
process.once('SIGINT', () => process.exit(1));
const running = new Map<Candidate, Server>();
await using cleanUp = new CleanUp();
const servers = new Servers(await temporaryFolder(cleanUp));
cleanUp.after(() => servers.stop());
const candidates = listCandidates(values.against).filter(({ base }) => matches(values.candidates, base));
cleanUp.after(async () => {
  await Promise.all(Array.from(running.values(), (server) => server.stop()));
});
for (const workload of workloads) {
  for (const connections of workload.connections ?? [64, 1]) {
    const name = rowName(workload.name, connections);
    if (!matches(values.workloads, name)) continue;
    const able = candidates.filter((each) => workload.candidates.test(each.name));
    const participants: Participant[] = [];
    for (const candidate of able) participants.push(await prepare(candidate, workload, connections));
    const { run, steady } = await runRounds(rounds, participants);
    const row = { name, rounds: run, steady: steady.length, medians: mediansOf(steady) };
    rows.push(row);
    printRow(row);
    if (isComparison) printComparison(steady, able);
  }
}
// The documentation shows the results of a run without options.
const results = { date, commit, machine: describeMachine(), rounds, seconds, rows };
if (process.argv.length === 2) await publish(results);
