import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { tokenOf } from './data-set.ts';

/** Requests that clients send repeatedly to each of several servers. */
export interface Row {
  readonly name: string;
  /** The kind of the requests. load.lua creates them. */
  readonly kind: string;
  readonly user: string;
  readonly connections: number;
  /** Matches the names of the servers. */
  readonly candidates: RegExp;
  /** Whether the servers are restarted before each round. */
  readonly afterRestart?: boolean;
}

/** In this row, 16 more connections list 20 plants at the same time. The latencies are those of the lists. */
export const slowDiskName = 'slow disk';
const all = /^(?!.*slow disk)/;
const allButMemory = /^(?!.*(memory|slow disk))/;
const onFile = /^(?!.*slow disk).*(node:http|sqlite)/i;

function rowOf(kind: string, user: string, connections: number, candidates: RegExp): Row {
  const name = `${kind}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
  return { name, kind, user, connections, candidates };
}

export const rows: readonly Row[] = [
  // This row is the first because it determines the peak memory.
  rowOf('whole list', 'liz', 1, allButMemory),
  ...[64, 1].map((connections) => rowOf('create', 'joe', connections, all)),
  ...[64, 1].map((connections) => rowOf('delete', 'eve', connections, all)),
  ...[64, 1].map((connections) => rowOf('list 20', 'ada', connections, all)),
  ...[64, 1].map((connections) => rowOf('list 1000', 'ada', connections, all)),
  // Almost every request is for a different list of a different user.
  ...[64, 1].map((connections) => rowOf('uncached list 20', '', connections, allButMemory)),
  // Each create request invalidates the cached list, because it is of the same user.
  ...[64, 1].map((connections) => rowOf('80 % list 20, 20 % create', 'ada', connections, all)),
  { ...rowOf('create', 'joe', 8, /slow disk/), name: slowDiskName },
  // While the write-ahead log grows, each fsync also writes its new size. The other rows use a log that has reached its
  // full size.
  { ...rowOf('create', 'joe', 1, onFile), name: 'create after a restart, 1 connection', afterRestart: true },
];

type Load = Readonly<Record<'requests' | 'requestsPerSecond' | 'p50Ms' | 'p99Ms', number>>;

let runs = 0;
/** How many plants have been deleted, by port. */
const deleted = new Map<number, number>();

/** Sends requests with wrk, which needs a fraction of the server's CPU time for a request. */
export async function runLoad(
  port: number,
  { kind, user, connections }: Pick<Row, 'kind' | 'user' | 'connections'>,
  milliseconds: number,
): Promise<Load> {
  const number = kind === 'delete' ? (deleted.get(port) ?? 0) : ++runs;
  const script = fileURLToPath(new URL('load.lua', import.meta.url));
  const options = ['-t1', `-c${connections}`, '-d1h', '--timeout=10s', '-s', script, `http://127.0.0.1:${port}`];
  const args = [...options, '--', kind, `${number}`, tokenOf(user)];
  // wrk ends when it receives SIGINT. Its own durations are whole seconds.
  const wrk = spawn('wrk', args, { timeout: milliseconds, killSignal: 'SIGINT' });
  const [output, problem] = await Promise.all([text(wrk.stdout), text(wrk.stderr)]);
  const json = /\{.*\}/.exec(output)?.[0];
  assert.ok(json, `wrk failed: ${output}${problem}`);
  const { failed, ...load } = JSON.parse(json) as Load & { failed: number };
  assert.equal(failed, 0, `${kind}: ${failed} of ${load.requests} requests failed`);
  // Requests that were in progress may have taken effect.
  if (kind === 'delete') deleted.set(port, number + load.requests + connections);
  return load;
}
