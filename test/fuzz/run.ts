import { parseArgs } from 'node:util';
import { search } from './search.ts';
import type { StorageName } from './search.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    path: { type: 'string' },
    storage: { type: 'string' },
  },
});

/** The search with a storage ends early after this many failed cases. */
const maxFound = 10;

const storages: StorageName[] =
  values.storage === undefined ? ['memory', 'sqlite'] : [values.storage === 'sqlite' ? 'sqlite' : 'memory'];
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const ms = (Number(values.minutes) * 60_000) / storages.length;
if (!Number.isSafeInteger(seed) || !(ms > 0)) {
  throw new TypeError('--seed must be an integer and --minutes a positive number');
}

for (const storage of storages) {
  const { cases, seeds, found } = await search({ storage, seed, path: values.path, ms }, maxFound);
  console.log([`${storage}: ${cases} cases, seeds ${seeds}, ${found.length} failed`, ...found].join('\n\n'));
  if (found.length > 0) process.exitCode = 1;
}
