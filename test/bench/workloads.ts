import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { creatingUser, numberedUsers, plantNumber, tokenOf } from './data-set.ts';

/** A kind of request that clients send repeatedly. load.lua creates the requests, by the name of the workload. */
export interface Workload {
  readonly name: string;
  readonly user: string;
  /** The numbers of connections; by default 64 and 1. */
  readonly connections?: readonly number[];
  /** The names of the candidates that can run the workload. */
  readonly candidates: RegExp;
  /** The number of plants in each list, which is checked once; `undefined` if there is no list, or not always the same. */
  readonly listed?: number;
  /** Whether servers with SQLite are restarted before each round. */
  readonly afterRestart?: boolean;
  /** Runs at the same time on 16 more connections. Only its latencies count. */
  readonly beside?: Workload;
}

export interface Load {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export const restartName = 'create after a restart';
export const slowDiskName = 'slow disk';
const all = /^(?!.*slow disk)/;
const allButMemory = /^(?!.*(memory|slow disk))/;
const onFile = /^(?!.*slow disk).*(node:http|sqlite)/i;
const { liz } = numberedUsers;
const list20: Workload = { name: 'list 20', user: 'ada', candidates: all, listed: 20 };

export const workloads: readonly Workload[] = [
  // This workload is the first because it determines the peak memory.
  { name: 'whole list', user: 'liz', connections: [1], candidates: all, listed: liz },
  { name: 'create', user: creatingUser, candidates: all },
  { name: 'delete', user: 'eve', candidates: all },
  list20,
  { name: 'list 1000', user: 'ada', candidates: all, listed: 1000 },
  { name: 'list 20 anywhere', user: '', candidates: allButMemory },
  // Creates plants for the listed user, so that each create request invalidates the cached list.
  { name: '80 % list 20, 20 % create', user: 'ada', candidates: all },
  { name: slowDiskName, user: creatingUser, connections: [8], beside: list20, candidates: /slow disk/ },
  // SQLite writes the size of the write-ahead log with each fsync while the log grows. This workload is the last one,
  // because other workloads need a log that has its size.
  { name: restartName, user: creatingUser, connections: [1], candidates: onFile, afterRestart: true },
];

export function rowName(workload: string, connections: number): string {
  return `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
}

/** Checks that a server's list is the expected one. */
export async function checkList(port: number, { user, listed }: Workload): Promise<void> {
  if (listed === undefined) return;
  const query = listed === liz ? '' : `?limit=${listed}`;
  const headers = { authorization: `Bearer ${tokenOf(user)}` };
  const response = await fetch(`http://127.0.0.1:${port}/plants${query}`, { headers });
  assert.deepEqual(
    await response.json(),
    Array.from({ length: listed }, (_, n) => plantNumber(n + 1)),
  );
}

/** The number of requests that each server has received. */
const sent = new Map<string, number>();

/**
 * Sends the requests of a workload with wrk, which needs a fraction of the server's CPU time for a request. Resolves
 * with `undefined` if no plants are left to delete.
 */
export async function runLoad(
  server: { readonly name: string; readonly port: number },
  workload: Workload,
  connections: number,
  milliseconds: number,
): Promise<Load | undefined> {
  const run = sent.get(server.name) ?? 0;
  const kind = workload.name === slowDiskName || workload.name === restartName ? 'create' : workload.name;
  const script = fileURLToPath(new URL('load.lua', import.meta.url));
  const args = [
    '-t1',
    `-c${connections}`,
    '-d1h',
    '-s',
    script,
    `http://127.0.0.1:${server.port}`,
    '--',
    kind,
    `${run}`,
  ];
  // wrk ends when it receives SIGINT. Its own durations are whole seconds.
  const wrk = spawn('wrk', [...args, tokenOf(workload.user)], { timeout: milliseconds, killSignal: 'SIGINT' });
  const [output, problem] = await Promise.all([text(wrk.stdout), text(wrk.stderr)]);
  const json = /\{.*\}/.exec(output)?.[0];
  assert.ok(json, `wrk failed: ${output}${problem}`);
  const { failed, ...load } = JSON.parse(json) as Load & { failed: number };
  // Requests that were in progress may have taken effect.
  const total = run + load.requests + connections;
  sent.set(server.name, total);
  if (kind === 'delete' && total > numberedUsers.eve) return undefined;
  assert.equal(failed, 0, `${server.name} › ${workload.name}: ${failed} of ${load.requests} requests failed`);
  return load;
}
