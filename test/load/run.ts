import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine } from '../bench/report.ts';
import { ScenarioRunner } from './scenario-runner.ts';
import { connectionFlood } from './scenarios/connection-flood.ts';
import { fewFiles } from './scenarios/few-files.ts';
import { hostileReaders } from './scenarios/hostile-readers.ts';
import { fastReaders, stuckReaders } from './scenarios/large-pages.ts';
import { largestLimitByteRate, largestLimitDisconnects, largestLimitHeads } from './scenarios/largest-limit.ts';
import { manyClients, tenfoldRate } from './scenarios/many-clients.ts';
import { manyLongLists, manyShortLists } from './scenarios/many-long-lists.ts';
import { MillionPlants } from './scenarios/million-plants.ts';
import { revocation } from './scenarios/revocation.ts';
import { idleConnections, slowSenders } from './scenarios/silent-connections.ts';
import { staleLists } from './scenarios/stale-lists.ts';
import { slowDocsReaders, stalledAdminPort, stalledBodies } from './scenarios/stalled-clients.ts';
import { termination } from './scenarios/termination.ts';
import { tableOf } from './table.ts';

const { values } = parseArgs({
  options: {
    /** A regular expression; only scenarios whose name matches are run. */
    only: { type: 'string', default: '.' },
    /** The folder of the built package. */
    dist: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
  },
});

const start = performance.now();
const [loadBefore = NaN] = loadavg();
const folder = await mkdtemp(join(tmpdir(), 'plant-store-overload-'));
const runner = new ScenarioRunner({ dist: resolve(values.dist), folder });
const million = new MillionPlants(runner);

/** Scenarios with later notes come first, so that the others run meanwhile. */
const scenarios: Record<string, () => Promise<unknown>> = {
  baseline: () => runner.baseline(),
  'idle connections': () => idleConnections(runner, 5000),
  'slow senders': () => slowSenders(runner, 1000),
  'slow readers': () => million.slowReaders(),
  '640 clients': () => manyClients(runner, 640),
  '5000 clients': () => manyClients(runner, 5000),
  '5000 patient clients': () => manyClients(runner, 5000, true),
  'tenfold rate': () => tenfoldRate(runner),
  'fast reader': () => million.fastReader('/plants'),
  'fast reader with a limit': () => million.fastReader('/plants?limit=1000000'),
  'connection flood': () => connectionFlood(runner, 20_000),
  'one pipelining client': () => million.pipelining({ connections: 1, requests: 100_000, target: '/plants?limit=20' }),
  '100 pipelining clients': () =>
    million.pipelining({ connections: 100, requests: 1000, target: '/plants?limit=1000' }),
  'hostile readers 500': () => hostileReaders(runner, { connections: 500, bytesPerSecond: 0 }),
  'hostile readers 2000': () => hostileReaders(runner, { connections: 2000, bytesPerSecond: 0 }),
  'hostile readers 2000 slow': () => hostileReaders(runner, { connections: 2000, bytesPerSecond: 200 }),
  'largest limit, HEAD': () => largestLimitHeads(runner),
  'largest limit, byte rate': () => largestLimitByteRate(runner),
  'largest limit, disconnects': () => largestLimitDisconnects(runner),
  'many long lists': () => manyLongLists(runner),
  'many short lists 500': () => manyShortLists(runner, 500),
  'many short lists 2000': () => manyShortLists(runner, 2000),
  'fast readers': () => fastReaders(runner, 6000),
  'stuck readers': () => stuckReaders(runner, 500),
  'stale lists': () => staleLists(runner),
  'slow docs readers': () => slowDocsReaders(runner, 11_000),
  'stalled bodies': () => stalledBodies(runner, 10_500),
  'stalled admin port': () => stalledAdminPort(runner),
  'few files 64': () => fewFiles(runner, { maxOpenFiles: 64, idleClients: 200, reconnects: false }),
  'few files 64 reconnect': () => fewFiles(runner, { maxOpenFiles: 64, idleClients: 200, reconnects: true }),
  'few files 1024': () => fewFiles(runner, { maxOpenFiles: 1024, idleClients: 1200, reconnects: false }),
  'few files 1024 reconnect': () => fewFiles(runner, { maxOpenFiles: 1024, idleClients: 1200, reconnects: true }),
  revocation: () => revocation(runner),
  termination: () => termination(runner),
};

try {
  for (const [name, run] of Object.entries(scenarios)) {
    if (!new RegExp(values.only, 'i').test(name)) continue;
    process.stderr.write(`${name} …\n`);
    try {
      await run();
    } catch (error) {
      // For example, the system may not allow enough open files.
      process.exitCode = 1;
      console.error(`${name} failed:`, error);
    }
  }
  process.stderr.write('waiting for the server to close connections …\n');
  const rows = await runner.rows();
  if (rows.some(({ verdict }) => verdict?.holds === false)) process.exitCode = 1;
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  const load = `load average ${loadBefore.toFixed(1)} at the start`;
  console.log(`\n${describeMachine()}; ${load}; ${minutes} minutes\n\n${tableOf(rows)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
