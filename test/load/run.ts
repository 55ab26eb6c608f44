import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import type { OwnedPlant } from '../../src/index.ts';
import { plantOf } from '../../src/testing/plants.ts';
import { otherUsers, randomId, tokenOf, writeTokenFile } from '../bench/data-set.ts';
import { startServer } from '../support/command-line.ts';
import { describeMachine, table } from '../support/report.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { createAll } from '../support/stored-plants.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { greedyUser, longUsers, scenarios } from './scenarios.ts';
import type { Scenario } from './scenarios.ts';

/** Only scenarios whose names match the regular expression `only` are run. */
const { values } = parseArgs({ options: { only: { type: 'string', default: '.' } } });

/** What docs/http-api.md says about memory. */
const heapMiB = 512;
const [bodyKiB, pageKiB] = [64, 256];
const [maxConnections, connectionKiB] = [10_000, 40];
const garbageMiB = 128;

const attackMs = 10_000;
const maxQueueMs = 30_000;
const probePauseMs = 100;
/** A request of the polite user that has not been answered by then has failed. */
const probeTimeoutMs = 60_000;
const [politeUser = ''] = otherUsers;

/** Returns the peak of a process's resident memory in MiB; NaN if the process has ended. */
function peakMiBOf({ pid, isRunning }: ServerProcess): number {
  const status = isRunning() ? readFileSync(`/proc/${pid}/status`, 'latin1') : '';
  return Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1]) / 1024;
}

/** Returns how many connections a server has not accepted yet: https://docs.kernel.org/networking/proc_net_tcp.html */
function countUnaccepted(port: number): number {
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  const listening = new RegExp(`:${hexPort} 00000000:0000 0A \\S+:(\\S+)`).exec(
    readFileSync('/proc/net/tcp', 'latin1'),
  );
  return parseInt(listening?.[1] ?? '0', 16);
}

/** Clients that reconnect all the time keep the queue full. */
async function untilAccepted(port: number): Promise<void> {
  for (const end = performance.now() + maxQueueMs; countUnaccepted(port) > 0 && performance.now() < end;) {
    await sleep(probePauseMs);
  }
}

/** Sends a request of the polite user on a new connection. Returns the status, and how long the response took. */
async function probe(url: string, isCreate: boolean): Promise<{ status: number | string; ms: number }> {
  const start = performance.now();
  const sent = request(`${url}/plants${isCreate ? '' : '?limit=20'}`, {
    method: isCreate ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${tokenOf(politeUser)}`, 'content-type': 'application/json' },
    body: isCreate ? JSON.stringify({ id: randomId(), name: 'Fern' }) : null,
    reset: true,
    signal: AbortSignal.timeout(probeTimeoutMs),
  });
  const status = await sent.then(
    async ({ statusCode, body }) => (await body.text(), statusCode),
    (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error),
  );
  return { status, ms: performance.now() - start };
}

async function runScenario(
  { name, attack, permits = 0, maxWaitMs = 3000 }: Scenario,
  database: string,
): Promise<string[]> {
  const connections = Math.min(attack.connections, maxConnections);
  const boundMiB = garbageMiB + (connections * connectionKiB + permits * (bodyKiB + pageKiB)) / 1024;
  await using cleanUp = new CleanUp();
  const folder = await temporaryFolder(cleanUp);
  writeTokenFile(join(folder, 'tokens.json'), longUsers);
  await copyFile(database, join(folder, 'plants.db'));
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMiB}` };
  const server = await startServer(cleanUp, ['--docs'], { cwd: folder, env, log: 'log' });
  for (let n = 0; n < 100; n++) await probe(server.url, n % 2 === 0);
  // The value 5 resets the peak to the current memory: https://docs.kernel.org/filesystems/proc.html
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const idleMiB = peakMiBOf(server);
  const attacker = fork(new URL('attack.ts', import.meta.url), [String(server.port), JSON.stringify(attack)]);
  await Promise.race([once(attacker, 'message'), sleep(60_000)]);
  await untilAccepted(server.port);
  const probes = [];
  for (const end = performance.now() + attackMs; performance.now() < end && server.isRunning();) {
    probes.push(await probe(server.url, probes.length % 2 === 0));
    await sleep(probePauseMs);
  }
  const peakMiB = peakMiBOf(server);
  attacker.kill('SIGKILL');
  await sleep(1000);
  await untilAccepted(server.port);
  const { status, ms } = await probe(server.url, true);
  const isHealthy = status === 200 && ms < 1000;
  const code = await server.stop();
  const failed = probes.filter((each) => each.status !== 200).map((each) => each.status);
  const longestMs = Math.max(...probes.map((each) => each.ms));
  const problems = [
    ...(code === 0 ? [] : [`the server ended with ${code ?? 'a signal'}`]),
    ...(peakMiB - idleMiB <= boundMiB ? [] : ['too much memory']),
    ...(failed.length === 0 ? [] : [`not served: ${[...new Set(failed)].join()}`]),
    ...(longestMs <= maxWaitMs ? [] : ['slow']),
    ...(isHealthy ? [] : [`afterwards ${status} in ${ms.toFixed(0)} ms`]),
  ];
  if (problems.length > 0) process.exitCode = 1;
  return [
    name,
    problems.length === 0 ? 'holds' : `fails: ${problems.join('; ')}`,
    `${(peakMiB - idleMiB).toFixed(0)} of ${boundMiB.toFixed(0)}`,
    `${probes.length - failed.length} of ${probes.length}`,
    longestMs.toFixed(0),
  ];
}

/** Returns plants of a user, with ids from 1. */
function plantsOf(user: string, count: number, nameOf: (n: number) => string): OwnedPlant[] {
  return Array.from({ length: count }, (_, n) => plantOf(user, n + 1, nameOf(n + 1)));
}

await using cleanUp = new CleanUp();
const database = join(await temporaryFolder(cleanUp), 'plants.db');
await createAll(database, [
  ...plantsOf(greedyUser, 40_000, (n) => (n > 1000 ? 'x'.repeat(230) : `Fern number ${n}`)),
  ...longUsers.flatMap((user) => plantsOf(user, 40, () => `\u{1F33F}${'x'.repeat(65_000)}`)),
  ...plantsOf(politeUser, 1000, (n) => `Fern number ${n}`),
]);
const rows = [];
for (const scenario of scenarios.filter(({ name }) => new RegExp(values.only, 'i').test(name))) {
  process.stderr.write(`${scenario.name} …\n`);
  rows.push(await runScenario(scenario, database));
}
if (rows.length === 0) throw new Error(`No scenario matches ${values.only}.`);
const titles = ['Clients', 'Verdict', 'MiB above idle', 'Requests of another user served', 'Longest, ms'];
console.log(`\n${describeMachine()}\nA heap of ${heapMiB} MB\n`);
console.log(table(titles, rows));
