import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { by, otherUsers, tokenOf, writeTokenFile } from '../bench/servers.ts';
import { logTo, startServer } from '../support/command-line.ts';
import { get, listRequest, post } from '../support/raw-http.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Attack } from './attack.ts';

/** What docs/http-api.md says about memory. */
const [heapMiB, garbageMiB] = [512, 128];
const [bodyKiB, pageKiB, connectionKiB] = [64, 256, 40];
const maxConnections = 10_000;

/** Each of the long users has 40 plants. Their names have 65,000 characters, one of them above U+00FF. */
const [politeUser = '', ...longUsers] = otherUsers.slice(0, 5);

const database = join(await temporaryFolder({ after }), 'plants.db');
await createAll(database, [
  ...rowOfPlants('ada', 40_000, 'x'.repeat(230)),
  ...rowOfPlants('eve', 1000),
  ...longUsers.flatMap((user) => rowOfPlants(user, 40, `\u{1F33F}${'x'.repeat(65_000)}`)),
  ...rowOfPlants(politeUser, 1000),
]);

/** Returns the peak of a process's resident memory in MiB. */
function peakMiBOf({ pid }: ServerProcess): number {
  return Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
}

let probes = 0;

/** Lists plants of the polite user or creates one, alternately, on a new connection. Returns the time in ms. */
async function probe(url: string): Promise<number> {
  const start = performance.now();
  const isCreate = ++probes % 2 === 0;
  const { statusCode, body } = await request(`${url}/plants${isCreate ? '' : '?limit=20'}`, {
    method: isCreate ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${tokenOf(politeUser)}`, 'content-type': 'application/json' },
    body: isCreate ? JSON.stringify({ id: 1_000_000 + probes, name: 'Fern' }) : null,
    reset: true,
    signal: AbortSignal.timeout(60_000),
  });
  assert.equal(statusCode, 200, await body.text());
  return performance.now() - start;
}

interface Scenario extends Attack {
  /** How many permits the attack can hold; default 0. A request that does not reach its operation holds none. */
  readonly permits?: number;
  /** How long another user's request may take during the attack. By default, 3 seconds. */
  readonly maxWaitMs?: number;
}

/** Checks that a server with clients that overload it serves another user, and uses at most the documented memory. */
async function overload(t: TestContext, { permits = 0, maxWaitMs = 3000, ...attack }: Scenario): Promise<void> {
  const connections = Math.min(attack.connections, maxConnections);
  const boundMiB = garbageMiB + (connections * connectionKiB + permits * (bodyKiB + pageKiB)) / 1024;
  const folder = await temporaryFolder(t);
  writeTokenFile(join(folder, 'tokens.json'));
  await copyFile(database, join(folder, 'plants.db'));
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMiB}` };
  const server = await startServer(t, [], { cwd: folder, env, wrapper: logTo('log') });
  for (let n = 0; n < 100; n++) await probe(server.url);
  // The value 5 resets the peak to the current memory: https://docs.kernel.org/filesystems/proc.html
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
  const idleMiB = peakMiBOf(server);
  const attacker = fork(new URL('attack.ts', import.meta.url), [String(server.port), JSON.stringify(attack)]);
  t.after(() => void attacker.kill('SIGKILL'));
  await Promise.race([once(attacker, 'message'), sleep(60_000, undefined, { ref: false })]);
  // The server responds to this request only after it has accepted the earlier connections.
  await probe(server.url);
  let longestMs = 0;
  for (const end = performance.now() + 10_000; performance.now() < end;) {
    longestMs = Math.max(longestMs, await probe(server.url));
    await sleep(20);
  }
  const usedMiB = peakMiBOf(server) - idleMiB;
  t.diagnostic(`${usedMiB.toFixed(0)} of ${boundMiB.toFixed(0)} MiB, at most ${longestMs.toFixed(0)} ms`);
  attacker.kill('SIGKILL');
  await sleep(1000);
  await probe(server.url);
  assert.ok((await probe(server.url)) < 1000, 'afterwards');
  assert.equal(await server.stop(), 0);
  assert.ok(usedMiB <= boundMiB, 'memory');
  assert.ok(longestMs <= maxWaitMs, 'time');
}

it('a server survives 9400 connections that send a large header without its end', (t) => {
  const header = `POST /plants HTTP/1.1\r\nHost: x\r\n${`X-Field: ${'x'.repeat(110)}\r\n`.repeat(126)}`;
  return overload(t, { connections: 9400, texts: [header] });
});

it('a server survives 10,500 connections that send a part of a body', (t) =>
  overload(t, { connections: 10_500, texts: by('ada', post('{', 100)), permits: 500 }));

it('a server survives 6000 connections that read 40,000 plants each', (t) =>
  overload(t, { connections: 6000, texts: by('ada', listRequest), permits: 500, maxWaitMs: 20_000 }));

it('a server survives 1000 connections of 4 users that do not read a page of 650 KB', (t) => {
  // No other client requests this page, so it is not cached.
  const texts = longUsers.flatMap((user) => by(user, get('/plants?limit=5&after=-NUMBER')));
  return overload(t, { connections: 1000, texts, permits: 800, readsNothing: true });
});

it('a server survives 1000 connections that pipeline 1000 lists each', (t) => {
  const texts = by('eve', get('/plants?limit=1000').repeat(1000));
  // node:http needs 10 ms to parse the 64 KiB that a new connection sends, so one round of all clients takes 10 s.
  return overload(t, { connections: 1000, texts, permits: 500, repeats: true, maxWaitMs: 30_000 });
});

it('a server survives 500 connections of one user that create plants of 64 KB', (t) => {
  const texts = by('ada', post(`{"id":NUMBER,"name":"${'x'.repeat(65_000)}"}`));
  return overload(t, { connections: 500, texts, permits: 500, repeats: true });
});
