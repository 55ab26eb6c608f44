import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
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
const command = [fileURLToPath(new URL('../../dist/tools/cli/main.js', import.meta.url))];
const { lost, resurrected, phantom, problems, ...report } = await runCrashRounds({
  folder,
  program: { command, storage: values.storage },
  rounds,
  random: Math.random,
});
const kinds = roundKinds.map((kind) => `${rounds.filter((each) => each === kind).length} × ${kind}`);
console.log(`${report.rounds} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${kinds.join(', ')}`);
console.log(`${report.acknowledged} writes acknowledged`);
console.log(`${report.unanswered} writes without a response`);
console.log(`${report.killedAtStart} servers killed during startup`);
for (const [name, lines] of Object.entries({ lost, resurrected, phantom, 'other problems': problems })) {
  console.log([`${lines.length} ${name}`, ...lines].join('\n  '));
}
console.log(`integrity check: ${report.integrity}`);
const isCorrect =
  [lost, resurrected, phantom, problems].every((lines) => lines.length === 0) && report.integrity === 'ok';
if (isCorrect) await rm(folder, { recursive: true });
else console.log(`The files are in ${folder}`);
process.exitCode = isCorrect ? 0 : 1;
