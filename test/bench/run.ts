import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { PostgresCluster } from '../support/postgres.ts';
import { get, post } from '../support/raw-http.ts';
import { describeMachine } from '../support/report.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { publish, quantile } from './publish.ts';
import type { Figures, RowResult } from './publish.ts';
import { by, candidates, startCandidate, startServer } from './servers.ts';
import type { Candidate, Server } from './servers.ts';

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
/** How far the bare server's CPU time in a steady round may be from its median, as a fraction of the median. */
const maxDeviation = 0.15;

interface Row {
  readonly name: string;
  /** What each of the connections sends in turn. load.lua replaces the words in angle brackets. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** Matches the names of the servers that this row measures. */
  readonly candidates: RegExp;
  /** How long each server is measured in each round; by default, half a second. */
  readonly seconds?: number;
  /** Requests that other connections send at the same time. The latencies of the row are those of these requests. */
  readonly beside?: Row;
  /** Whether the servers are restarted before each round. */
  readonly isAfterRestart?: boolean;
}

const create = post('{"id":<SIXTEEN_DIGITS>,"name":"Fern","tag":"indoor"}');
const list = get('/plants?limit=20');
const creates = by('joe', create);
const deletes = by('eve', get('/plants/<NEXT_ID>').replace('GET', 'DELETE'));
const lists = by('ada', list);
// Almost every request is for a different list of a different user.
const uncached = by('<RANDOM_USER>', get('/plants?limit=20&after=<SIXTEEN_DIGITS>'));
// Each create request invalidates the cached list, because it is of the same user.
const mixed = by('ada', create, list, list, list, list);

const all = /^(?!.*slow disk)/;
const allButMemory = /^(?!.*(memory|slow disk))/;
const onFile = /^(?!.*slow disk).*(node:http|sqlite)/i;

function rowOf(kind: string, requests: readonly string[], connections: number, candidates = all): Row {
  const name = `${kind}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
  return { name, requests, connections, candidates };
}

const rows: readonly Row[] = [
  // This row is the first because it determines the peak memory.
  { ...rowOf('whole list', by('liz', get('/plants')), 1, allButMemory), seconds: 2 },
  ...[64, 1].map((connections) => rowOf('create', creates, connections)),
  ...[64, 1].map((connections) => rowOf('delete', deletes, connections)),
  ...[64, 1].map((connections) => rowOf('list 20', lists, connections)),
  ...[64, 1].map((connections) => rowOf('list 1000', by('ada', get('/plants?limit=1000')), connections)),
  ...[64, 1].map((connections) => rowOf('uncached list 20', uncached, connections, allButMemory)),
  ...[64, 1].map((connections) => rowOf('80 % list 20, 20 % create', mixed, connections)),
  {
    ...rowOf('create', creates, 8, /slow disk/),
    ...{ name: 'slow disk', seconds: 2, beside: rowOf('list 20', lists, 16) },
  },
  // While the write-ahead log grows, each fsync also writes its new size. The other rows use a log that has reached its
  // full size.
  { ...rowOf('create after a restart', creates, 1, onFile), isAfterRestart: true },
];

type Load = Readonly<Record<'requests' | 'requestsPerSecond' | 'p50Ms' | 'p99Ms', number>>;

let runs = 0;
/** How many plants have been deleted, by port. */
const deleted = new Map<number, number>();

/** Sends requests with wrk, which needs a fraction of the server's CPU time for a request. */
async function runLoad(port: number, { requests, connections }: Row, seconds: number): Promise<Load> {
  const first = requests === deletes ? (deleted.get(port) ?? 0) : ++runs;
  const script = join(import.meta.dirname, 'load.lua');
  const options = ['-t1', `-c${connections}`, '-d1h', '--timeout=10s', '-s', script, `http://127.0.0.1:${port}`];
  // The timeout ends wrk with SIGINT, because `-d` accepts only whole seconds.
  const limit = { timeout: seconds * 1000, killSignal: 'SIGINT' } as const;
  const args = [...options, '--', String(first), ...requests];
  const wrk = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'], ...limit });
  const [json = '{}'] = /\{.*\}/.exec(await text(wrk.stdout)) ?? [];
  const { failed, ...load } = JSON.parse(json) as Load & { failed: number };
  assert.equal(failed, 0, `${failed} of ${load.requests} requests failed: ${requests.join('')}`);
  // Requests that were in progress may have taken effect.
  if (requests === deletes) deleted.set(port, first + load.requests + connections);
  return load;
}

/** Each server's figures in a round, by name. */
type Round = Readonly<Record<string, Figures>>;

async function measure(candidate: Candidate, row: Row): Promise<Figures> {
  const { seconds = 0.5, beside, isAfterRestart = false } = row;
  let server = running.get(candidate.name) ?? (await startCandidate(candidate, cluster, cleanUp));
  if (isAfterRestart) {
    await server.stop();
    server = await startServer(cleanUp, server.command);
  }
  running.set(candidate.name, server);
  const before = { ...(await server.usage()), databaseMicros: await cluster.cpuMicros() };
  const [load, other] = await Promise.all([
    runLoad(server.port, row, seconds),
    beside && runLoad(server.port, beside, seconds),
  ]);
  const after = { databaseMicros: await cluster.cpuMicros(), ...(await server.usage()) };
  const requests = load.requests + (other?.requests ?? 0);
  const { p50Ms, p99Ms } = other ?? load;
  return {
    cpuMicros: (after.cpuMicros - before.cpuMicros) / requests,
    databaseMicros: (after.databaseMicros - before.databaseMicros) / requests,
    requestsPerSecond: load.requestsPerSecond,
    ...(other && { besidePerSecond: other.requestsPerSecond }),
    p50Ms,
    p99Ms,
    loopDelayMs: after.loopDelayMs,
    majorPageFaults: after.majorPageFaults - before.majorPageFaults,
    peakMiB: after.peakMiB,
  };
}

const bareName = 'bare node:http';
const figuresOf = (rounds: readonly Round[], name: string, key = 'cpuMicros'): readonly number[] =>
  rounds.map((round) => round[name]?.[key] ?? NaN);

/** Runs rounds until the machine has been steady in `rounds` of them. Prints and returns their medians. */
async function runRow(row: Row): Promise<RowResult> {
  const participants = selected.filter(({ name }) => row.candidates.test(name));
  const all: Round[] = [];
  let steady: readonly Round[] = [];
  for (let n = 0; all.length < Math.floor(rounds * 1.5) && steady.length < rounds; n++) {
    const round: Record<string, Figures> = {};
    // The order alternates, so that a gradual change in the machine's speed does not favor one participant of a pair.
    for (const each of n % 2 === 0 ? participants : participants.toReversed()) {
      round[each.name] = await measure(each, row);
    }
    if (n === 0) continue; // The first round is a warm-up.
    all.push(round);
    // The bare server's work is always the same. Without this server, all rounds count.
    const bare = figuresOf(all, bareName);
    const median = quantile(bare, 0.5);
    steady = all.filter((_, at) => !(Math.abs((bare[at] ?? NaN) / median - 1) > maxDeviation));
  }
  const medians = Object.fromEntries(participants.map(({ name }) => [name, mediansOf(name, steady)]));
  console.log(`\n${row.name}: ${steady.length} of ${all.length} rounds were steady`);
  console.table(medians);
  return { name: row.name, rounds: all.length, steady: steady.length, medians };
}

/** Returns a server's medians, and the ratio of its CPU time to that of the other build, if any, or the bare server. */
function mediansOf(name: string, steady: readonly Round[]): Figures {
  const against = `${name} (against)`;
  const base = selected.some((each) => each.name === against) ? against : bareName;
  const baseMicros = figuresOf(steady, base);
  const ratios = figuresOf(steady, name).map((micros, at) => micros / (baseMicros[at] ?? NaN));
  const [lowerRatio = NaN, ratio = NaN, upperRatio = NaN] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share));
  const keys = Object.keys(steady[0]?.[name] ?? {});
  const medians = keys.map((key) => [key, quantile(figuresOf(steady, name, key), 0.5)] as const);
  return { ...Object.fromEntries(medians), lowerRatio, ratio, upperRatio };
}

const { against: folder } = values;
/** If another build is given, each Plant Store is followed by a server of that build, and Fastify is omitted. */
const selected = candidates
  .filter(({ name, peer }) => new RegExp(values.candidates, 'i').test(name) && !(folder && peer === 'fastify'))
  .flatMap((each) => (folder && !each.peer ? [each, { ...each, name: `${each.name} (against)`, folder }] : [each]));
process.once('SIGINT', () => process.exit(1));
await using cleanUp = new CleanUp();
const cluster = await PostgresCluster.start(cleanUp, { fsync: true });
const running = new Map<string, Server>();
const results: RowResult[] = [];
for (const row of rows) if (new RegExp(values.workloads, 'i').test(row.name)) results.push(await runRow(row));
// The documentation shows the results of a run without options.
if (process.argv.length === 2) await publish(describeMachine(), results);
