import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { otherUsers, tokenOf, writeTokenFile } from '../bench/data-set.ts';
import { startServer } from '../support/command-line.ts';
import { describeMachine, table } from '../support/report.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import type { Attack } from './attack.ts';

/** Only scenarios whose names match the regular expression `only` are run. */
const { values } = parseArgs({ options: { only: { type: 'string', default: '.' } } });

/** What docs/http-api.md says about memory. */
const heapMiB = 512;
const [bodyKiB, pageKiB] = [64, 256];
const [maxConnections, connectionKiB] = [10_000, 40];
const garbageMiB = 128;

const attackMs = 10_000;
/** A request of the polite user that has not been answered by then has failed. */
const probeTimeoutMs = 60_000;
/** Each of the long users has 40 plants. Their names have 65,000 characters, one of them above U+00FF. */
const [politeUser = '', ...longUsers] = otherUsers.slice(0, 5);

interface Scenario extends Attack {
  /** How many permits the attack can hold. A request that does not reach its operation holds none. */
  readonly permits?: number;
  /** How long another user's request may take during the attack. By default, 3 seconds. */
  readonly maxWaitMs?: number;
}

const head = (method: string, target: string): string =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n`;
const get = (target: string): string => `${head('GET', target)}\r\n`;
const post = (length: number, body: string): string =>
  `${head('POST', '/plants')}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

const ofGreedy = { tokens: [tokenOf('ada')], permits: 500 };
/** A header of 15 KiB without its end. */
const largeHeader = `POST /plants HTTP/1.1\r\nHost: x\r\n${`X-Field: ${'x'.repeat(110)}\r\n`.repeat(126)}`;
const largePlant = `{"id":NUMBER,"name":"${'x'.repeat(65_000)}"}`;

const scenarios: Readonly<Record<string, Scenario>> = {
  '9400 connections that send a large header without its end': { connections: 9400, text: largeHeader },
  '10,500 stalled bodies': { ...ofGreedy, connections: 10_500, text: post(100, '{') },
  '6000 fast readers of 40,000 plants': { ...ofGreedy, connections: 6000, text: get('/plants'), maxWaitMs: 20_000 },
  '1000 connections of 4 users that do not read a page of 650 KB': {
    tokens: longUsers.map(tokenOf),
    permits: 800,
    connections: 1000,
    // No other client requests this page, so it is not cached.
    text: get('/plants?limit=5&after=-NUMBER'),
    readsNothing: true,
  },
  '1000 connections that pipeline 1000 lists': {
    tokens: [tokenOf('eve')],
    permits: 500,
    connections: 1000,
    text: get('/plants?limit=1000').repeat(1000),
    repeats: true,
    // node:http needs 10 ms to parse the 64 KiB that a new connection sends, so one round of all clients takes 10 s.
    maxWaitMs: 30_000,
  },
  '500 connections of one user that create plants of 64 KB': {
    ...ofGreedy,
    connections: 500,
    text: post(largePlant.length, largePlant),
    repeats: true,
  },
};

/** Returns the peak of a process's resident memory in MiB; NaN if the process has ended. */
function peakMiBOf({ pid, isRunning }: ServerProcess): number {
  const status = isRunning() ? readFileSync(`/proc/${pid}/status`, 'latin1') : '';
  return Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1]) / 1024;
}

let probes = 0;

/** Creates or lists plants of the polite user, in turn, each on a new connection. */
async function probe(url: string): Promise<{ status: number | string; ms: number }> {
  const start = performance.now();
  const isCreate = ++probes % 2 === 0;
  const sent = request(`${url}/plants${isCreate ? '' : '?limit=20'}`, {
    method: isCreate ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${tokenOf(politeUser)}`, 'content-type': 'application/json' },
    body: isCreate ? JSON.stringify({ id: 1_000_000 + probes, name: 'Fern' }) : null,
    reset: true,
    signal: AbortSignal.timeout(probeTimeoutMs),
  });
  const status = await sent.then(
    async ({ statusCode, body }) => (await body.text(), statusCode),
    (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error),
  );
  return { status, ms: performance.now() - start };
}

/** Returns a row of the report. */
async function runScenario(name: string, scenario: Scenario): Promise<string[]> {
  const { permits = 0, maxWaitMs = 3000, ...attack } = scenario;
  const connections = Math.min(attack.connections, maxConnections);
  const boundMiB = garbageMiB + (connections * connectionKiB + permits * (bodyKiB + pageKiB)) / 1024;
  await using cleanUp = new CleanUp();
  const folder = await temporaryFolder(cleanUp);
  writeTokenFile(join(folder, 'tokens.json'));
  await copyFile(database, join(folder, 'plants.db'));
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMiB}` };
  const server = await startServer(cleanUp, [], { cwd: folder, env, log: 'log' });
  for (let n = 0; n < 100; n++) await probe(server.url);
  // The value 5 resets the peak to the current memory: https://docs.kernel.org/filesystems/proc.html
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const idleMiB = peakMiBOf(server);
  const attacker = fork(new URL('attack.ts', import.meta.url), [String(server.port), JSON.stringify(attack)]);
  await Promise.race([once(attacker, 'message'), sleep(60_000)]);
  // This request waits until the server has accepted the connections before it.
  await probe(server.url);
  const answers = [];
  for (const end = performance.now() + attackMs; performance.now() < end && server.isRunning();) {
    answers.push(await probe(server.url));
    await sleep(20);
  }
  const usedMiB = peakMiBOf(server) - idleMiB;
  attacker.kill('SIGKILL');
  await sleep(1000);
  await probe(server.url);
  const after = await probe(server.url);
  const code = await server.stop();
  const failed = answers.flatMap(({ status }) => (status === 200 ? [] : [status]));
  const longestMs = Math.max(...answers.map(({ ms }) => ms));
  const problems = [
    ...(code === 0 ? [] : [`the server ended with ${code ?? 'a signal'}`]),
    ...(usedMiB <= boundMiB ? [] : ['too much memory']),
    ...(failed.length === 0 ? [] : [`not served: ${[...new Set(failed)].join()}`]),
    ...(longestMs <= maxWaitMs ? [] : ['slow']),
    ...(after.status === 200 && after.ms < 1000 ? [] : [`afterwards ${after.status} in ${after.ms.toFixed(0)} ms`]),
  ];
  if (problems.length > 0) process.exitCode = 1;
  const verdict = problems.length === 0 ? 'holds' : `fails: ${problems.join('; ')}`;
  const served = `${answers.length - failed.length} of ${answers.length}`;
  return [name, verdict, `${usedMiB.toFixed(0)} of ${boundMiB.toFixed(0)}`, served, longestMs.toFixed(0)];
}

await using cleanUp = new CleanUp();
const database = join(await temporaryFolder(cleanUp), 'plants.db');
await createAll(database, [
  ...rowOfPlants('ada', 40_000, 'x'.repeat(230)),
  ...rowOfPlants('eve', 1000),
  ...longUsers.flatMap((user) => rowOfPlants(user, 40, `\u{1F33F}${'x'.repeat(65_000)}`)),
  ...rowOfPlants(politeUser, 1000),
]);
const rows = [];
for (const [name, scenario] of Object.entries(scenarios)) {
  if (!new RegExp(values.only, 'i').test(name)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(await runScenario(name, scenario));
}
const titles = ['Clients', 'Verdict', 'MiB above idle', 'Requests of another user served', 'Longest, ms'];
console.log(`\n${describeMachine()}\nA heap of ${heapMiB} MB\n\n${table(titles, rows)}`);
