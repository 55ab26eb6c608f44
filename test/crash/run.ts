import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCrashRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    storage: { type: 'string', default: 'sqlite:plants.db' },
  },
});

const folder = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
const { storage, rounds } = values;
const { problems, acknowledged, unanswered } = await runCrashRounds({ folder, storage, rounds: Number(rounds) });
console.log(`${acknowledged} writes acknowledged, ${unanswered} without a response`);
console.log([`${problems.length} problems`, ...problems].join('\n  '));
if (problems.length === 0) await rm(folder, { recursive: true });
else console.log(`The files are in ${folder}`);
process.exitCode = problems.length === 0 ? 0 : 1;
