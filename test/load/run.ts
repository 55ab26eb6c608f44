import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine } from '../bench/report.ts';
import { revocation, termination } from './changes.ts';
import { crowd, offerTenfold } from './crowds.ts';
import { fewFiles } from './few-files.ts';
import { connectionFlood } from './floods.ts';
import { hostileReaders } from './hostile-readers.ts';
import { largestLimitHeads, largestLimitLeavers, largestLimitTrickle } from './largest-limit.ts';
import { idleConnections, slowSenders } from './lingerers.ts';
import { LongLists } from './long-lists.ts';
import { manyLongLists } from './many-lists.ts';
import { Stage } from './stage.ts';
import { tableOf } from './table.ts';

const { values } = parseArgs({
  options: {
    /** Which scenarios. */
    only: { type: 'string', default: '.' },
    /** The built package. */
    dist: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
  },
});

const start = performance.now();
const [loadBefore = NaN] = loadavg();
const folder = await mkdtemp(join(tmpdir(), 'plant-store-overload-'));
const stage = new Stage({ dist: resolve(values.dist), folder });
const lists = new LongLists(stage);

/** Those that wait long for the end of something come first, so that the others go on meanwhile. */
const scenarios: Record<string, () => Promise<unknown>> = {
  baseline: () => stage.baseline(),
  'idle connections': () => idleConnections(stage, 5000),
  'slow senders': () => slowSenders(stage, 1000),
  'slow readers': () => lists.slowReaders(),
  'crowd 640': () => crowd(stage, 640),
  'crowd 5000': () => crowd(stage, 5000),
  'patient crowd': () => crowd(stage, 5000, true),
  'open loop': () => offerTenfold(stage),
  'fast reader': () => lists.fastReader('/plants'),
  'fast reader with a limit': () => lists.fastReader('/plants?limit=1000000'),
  'connection flood': () => connectionFlood(stage, 20_000),
  'one pipeliner': () => lists.pipeliners({ connections: 1, requests: 100_000, target: '/plants?limit=20' }),
  'many pipeliners': () => lists.pipeliners({ connections: 100, requests: 1000, target: '/plants?limit=1000' }),
  'hostile readers 500': () => hostileReaders(stage, { connections: 500, bytesPerSecond: 0 }),
  'hostile readers 2000': () => hostileReaders(stage, { connections: 2000, bytesPerSecond: 0 }),
  'hostile readers 2000 slow': () => hostileReaders(stage, { connections: 2000, bytesPerSecond: 200 }),
  'largest limit heads': () => largestLimitHeads(stage),
  'largest limit trickle': () => largestLimitTrickle(stage),
  'largest limit leavers': () => largestLimitLeavers(stage),
  'many long lists': () => manyLongLists(stage),
  'few files 64': () => fewFiles(stage, { maxOpenFiles: 64, idleClients: 200, isStubborn: false }),
  'few files 64 stubborn': () => fewFiles(stage, { maxOpenFiles: 64, idleClients: 200, isStubborn: true }),
  'few files 1024': () => fewFiles(stage, { maxOpenFiles: 1024, idleClients: 1200, isStubborn: false }),
  'few files 1024 stubborn': () => fewFiles(stage, { maxOpenFiles: 1024, idleClients: 1200, isStubborn: true }),
  revocation: () => revocation(stage),
  termination: () => termination(stage),
};

try {
  for (const [name, play] of Object.entries(scenarios)) {
    if (!new RegExp(values.only, 'i').test(name)) continue;
    process.stderr.write(`${name} …\n`);
    try {
      await play();
    } catch (error) {
      // As where the system does not allow so many open files.
      process.exitCode = 1;
      console.error(`${name} could not be played:`, error);
    }
  }
  process.stderr.write('waiting for connections to be closed …\n');
  const rows = await stage.rows();
  const minutes = ((performance.now() - start) / 60_000).toFixed(1);
  console.log(
    `\n${describeMachine()}; load average ${loadBefore.toFixed(1)} before it; ${minutes} minutes\n\n${tableOf(rows)}`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
