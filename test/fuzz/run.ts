import { parseArgs } from 'node:util';
import { search } from './search.ts';
import type { FoundCase, StorageName } from './search.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    path: { type: 'string' },
    storage: { type: 'string' },
  },
});

/** The program ends early after this many failed cases. */
const maxFound = 10;

const storages: StorageName[] =
  values.storage === undefined ? ['memory', 'sqlite'] : [values.storage === 'sqlite' ? 'sqlite' : 'memory'];
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const ms = (Number(values.minutes) * 60_000) / storages.length;
if (!Number.isSafeInteger(seed) || !(ms > 0)) {
  throw new TypeError('--seed must be an integer and --minutes a positive number');
}

let count = 0;
for (const storage of storages) {
  const start = performance.now();
  const { cases, seeds, found } = await search({ storage, seed, path: values.path, ms }, maxFound, report);
  count += found.length;
  const seconds = Math.round((performance.now() - start) / 1000);
  console.log(`${storage}: ${cases} cases in ${seconds} s, seeds ${seeds}, ${found.length} failed`);
}
process.exitCode = count > 0 ? 1 : 0;

function report({ storage, seed, path, message, counterexample }: FoundCase): void {
  const repeat = `npm run fuzz -- --storage ${storage} --seed ${seed} --path ${path}`;
  console.log(`\n${message}\n${counterexample}\nTo repeat it: ${repeat}\n`);
}
