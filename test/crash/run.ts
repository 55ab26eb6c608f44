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
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

/** Returns a random number generator for the seed: https://en.wikipedia.org/wiki/Linear_congruential_generator */
function seeded(seed: number): () => number {
  let state = BigInt(seed);
  return () => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn;
    return Number(state >> 32n) / 2 ** 32;
  };
}

const random = seeded(Number(values.seed));
const rounds = Array.from(
  { length: Number(values.rounds) },
  () => roundKinds[Math.floor(random() * roundKinds.length)] ?? 'kill',
);
const folder = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
// The seed determines the kinds of the rounds and the times of the kills, but not how far the server is then.
console.log(`seed ${values.seed}, storage ${values.storage}`);
const startedAt = performance.now();
const command = [fileURLToPath(new URL('../../dist/tools/cli/main.js', import.meta.url))];
const { lost, resurrected, phantom, problems, ...report } = await runCrashRounds({
  folder,
  program: { command, storage: values.storage },
  rounds,
  random,
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
