import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { candidatesOf, createFiles, findBuild, memoryName, root, startOwn, startPeer } from './candidates.ts';
import type { Candidate, Running } from './candidates.ts';
import { importName, importParticipants, startName, startParticipants } from './first-seconds.ts';
import { runLoad } from './load.ts';
import type { LoadOptions } from './load.ts';
import { createPostgresDatabase } from './postgres-data.ts';
import { publish } from './publish.ts';
import { bareName, printComparison, printRow, quantile } from './report.ts';
import { startResults } from './results.ts';
import { mediansOf, runRounds } from './rounds.ts';
import type { Figures, Participant } from './rounds.ts';
import { createSizedDatabase, scaleName, scaleParticipant, sizes } from './scale.ts';
import type { ServerProcess } from './server-process.ts';
import { compileSlowSync, onSlowDisk, slowDiskName } from './slow-disk.ts';
import { rowName, workloads } from './workloads.ts';
import type { Workload } from './workloads.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    /** How long each server is measured in each round. */
    seconds: { type: 'string', default: '0.5' },
    connections: { type: 'string', default: '64,1' },
    /** Regular expressions that select workloads and candidates by name. */
    workloads: { type: 'string', default: '.' },
    candidates: { type: 'string', default: '.' },
    /** The folders of other builds of this project to compare with. */
    against: { type: 'string', multiple: true, default: [] },
  },
});
const here = join(root, 'test/bench');
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;
const build = await findBuild();
const builds = [build, ...(await Promise.all(values.against.map((folder) => findBuild(folder))))];
const isComparison = builds.length > 1;

/** The participants in a row, and the servers that are stopped after the row. */
interface Prepared {
  readonly participants: readonly Participant[];
  readonly servers?: readonly ServerProcess[];
}

async function startAll(selected: readonly Candidate[], env?: NodeJS.ProcessEnv): Promise<Running[]> {
  const running: Running[] = [];
  for (const candidate of selected) running.push({ ...candidate, server: await candidate.start(env) });
  return running;
}

async function measureLoad(
  { server, base }: Running,
  next: LoadOptions['next'],
  connections: number,
): Promise<Figures | undefined> {
  const databaseMicros = async (): Promise<number> => (usesPostgres(base) ? ((await cluster?.cpuMicros()) ?? 0) : 0);
  const before = await server.usage();
  const databaseBefore = await databaseMicros();
  const load = await runLoad({ port: server.port, connections, milliseconds, next });
  const after = await server.usage();
  const databaseAfter = await databaseMicros();
  if (load.requests === 0) return undefined;
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / load.requests,
    databaseMicros: (databaseAfter - databaseBefore) / load.requests,
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: quantile(load.latencies, 0.5),
    p99Ms: quantile(load.latencies, 0.99),
    loopDelayMs: after.loopDelayMs,
    peakMiB: after.peakMiB,
    generatorLoad: load.generatorLoad,
  };
}

async function prepareWorkload({ supports, prepare }: Workload, connections: number): Promise<Prepared> {
  running ??= await startAll(candidates);
  const able = running.filter((each) => supports?.(each) ?? true);
  const participants = able.map(async (each) => {
    const next = await prepare(each);
    return { name: each.name, measure: () => measureLoad(each, next, connections) };
  });
  return { participants: await Promise.all(participants) };
}

async function prepareSlowDisk(): Promise<Prepared> {
  const able = candidates.filter(({ base }) => base !== memoryName && !usesPostgres(base));
  const slow = await startAll(able, compileSlowSync(folder));
  const participants = await Promise.all(slow.map((each) => onSlowDisk(each, milliseconds)));
  return { participants, servers: slow.map(({ server }) => server) };
}

async function prepareScale(): Promise<Prepared> {
  const bare = await startPeer('bare-node-http', files.lists);
  const sized = sizes.map(async (size): Promise<[string, ServerProcess]> => {
    const path = join(folder, `${size}.db`);
    await createSizedDatabase(path, size);
    return [String(size), await startOwn(build, files.tokens, `sqlite:${path}`)];
  });
  const all: [string, ServerProcess][] = [[bareName, bare], ...(await Promise.all(sized))];
  const participants = all.map(([name, server]) => scaleParticipant(name, server));
  return { participants, servers: all.map(([, server]) => server) };
}

/** Returns a function for each row of a run, by the row's name. It prepares the row. */
function planRows(): Map<string, () => Prepared | Promise<Prepared>> {
  const plan = new Map<string, () => Prepared | Promise<Prepared>>();
  const connections = values.connections.split(',').map(Number);
  for (const workload of workloads) {
    for (const count of workload.connections === undefined ? connections : [workload.connections]) {
      plan.set(rowName(workload.name, count), () => prepareWorkload(workload, count));
    }
  }
  plan.set(slowDiskName, prepareSlowDisk);
  if (isComparison) return plan;
  plan.set(scaleName, prepareScale);
  plan.set(startName, () => ({ participants: startParticipants(build, files) }));
  plan.set(importName, () => ({ participants: importParticipants() }));
  return plan;
}

const matches = (pattern: string, name: string): boolean => new RegExp(pattern, 'i').test(name);
const usesPostgres = (base: string): boolean => /PostgreSQL|pg$/.test(base);

let results = startResults({ rounds, seconds: Number(values.seconds) });
// The peers and the chart need these packages.
if (!isComparison) execFileSync('npm', ['ci', '--prefix', here, '--no-audit', '--no-fund'], { stdio: 'inherit' });
const folder = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
let cluster: PostgresCluster | undefined;
process.once('exit', () => {
  rmSync(folder, { recursive: true });
});
process.once('SIGINT', () => process.exit(1));
const files = await createFiles(folder);
const candidates = candidatesOf(files, builds, async () =>
  createPostgresDatabase((cluster ??= await PostgresCluster.start())),
).filter(({ base }) => matches(values.candidates, base));
let running: readonly Running[] | undefined;
try {
  for (const [name, prepare] of planRows()) {
    if (!matches(values.workloads, name)) continue;
    const { participants, servers = [] } = await prepare();
    const { run, steady } = await runRounds(rounds, participants);
    await Promise.all(servers.map((server) => server.stop()));
    const row = { name, rounds: run, steady: steady.length, medians: mediansOf(steady, participants) };
    printRow(row);
    if (isComparison) printComparison(steady, candidates);
    results = { ...results, rows: [...results.rows, row] };
  }
} finally {
  await Promise.all((running ?? []).map(({ server }) => server.stop()));
  await cluster?.remove();
}
// The documentation shows the results of a run without options.
if (process.argv.length === 2) await publish(results);
