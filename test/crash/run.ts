import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { roundKinds, runCrashRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

/** Numbers that a seed decides: https://en.wikipedia.org/wiki/Linear_congruential_generator */
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
// Of a crash the seed decides the kinds and the moments; what is under way then is up to the machine.
console.log(`seed ${values.seed}`);
const startedAt = performance.now();
const command = [fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))];
const { lost, resurrected, phantom, problems, ...tally } = await runCrashRounds({ folder, command, rounds, random });
console.log(
  `${tally.rounds} rounds in ${Math.round((performance.now() - startedAt) / 1000)} s: ${roundKinds.map((kind) => `${rounds.filter((one) => one === kind).length} × ${kind}`).join(', ')}`,
);
console.log(`${tally.acknowledged} writes acknowledged`);
console.log(`${tally.unknown} without an answer`);
console.log(`${tally.killedAtStart} servers killed while they started`);
for (const [name, lines] of Object.entries({ lost, resurrected, phantom, 'other problems': problems })) {
  console.log([`${lines.length} ${name}`, ...lines].join('\n  '));
}
console.log(`integrity_check: ${tally.integrity}`);
const isGood = [lost, resurrected, phantom, problems].every((lines) => lines.length === 0) && tally.integrity === 'ok';
if (isGood) await rm(folder, { recursive: true });
else console.log(`The files are left in ${folder}`);
process.exitCode = isGood ? 0 : 1;
