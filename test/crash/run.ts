import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../support/sources.ts';
import { roundKinds, runCrashRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    storage: { type: 'string', default: 'sqlite:plants.db' },
  },
});

const rounds = Array.from(
  { length: Number(values.rounds) },
  () => roundKinds[Math.floor(Math.random() * roundKinds.length)] ?? 'kill',
);
const folder = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
const startedAt = performance.now();
const command = [join(root, 'dist/tools/cli/main.js')];
const { problems, acknowledged, unanswered } = await runCrashRounds({
  folder,
  command,
  storage: values.storage,
  rounds,
});
const kinds = roundKinds.map((kind) => `${rounds.filter((each) => each === kind).length} × ${kind}`);
console.log(`${rounds.length} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${kinds.join(', ')}`);
console.log(`${acknowledged} writes acknowledged, ${unanswered} without a response`);
console.log([`${problems.length} problems`, ...problems].join('\n  '));
if (problems.length === 0) await rm(folder, { recursive: true });
else console.log(`The files are in ${folder}`);
process.exitCode = problems.length === 0 ? 0 : 1;
