import { parseArgs } from 'node:util';
import { search } from './search.ts';
import type { Found, StorageName } from './search.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    path: { type: 'string' },
    storage: { type: 'string' },
  },
});

/** How many findings are looked for before it ends early. */
const maxFound = 10;

const storages: StorageName[] =
  values.storage === undefined ? ['memory', 'sqlite'] : [values.storage === 'sqlite' ? 'sqlite' : 'memory'];
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const ms = (Number(values.minutes) * 60_000) / storages.length;
if (!Number.isSafeInteger(seed) || !(ms > 0)) {
  throw new TypeError('--seed must be an integer and --minutes a number over 0');
}

let count = 0;
for (const storage of storages) {
  const start = performance.now();
  const { cases, seeds, found } = await search({ storage, seed, path: values.path, ms }, maxFound, report);
  count += found.length;
  console.log(
    `${storage}: ${cases} cases in ${Math.round((performance.now() - start) / 1000)} s, seeds ${seeds}, ${found.length} findings`,
  );
}
process.exitCode = count > 0 ? 1 : 0;

function report({ storage, seed, path, message, counterexample }: Found): void {
  console.log(
    `\n${message}\n${counterexample}\nagain: npm run fuzz -- --storage ${storage} --seed ${seed} --path ${path}\n`,
  );
}
