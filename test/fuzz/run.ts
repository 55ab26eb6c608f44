import { inspect, parseArgs } from 'node:util';
import { search } from './search.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    path: { type: 'string' },
    storage: { type: 'string' },
  },
});

const storages = (['memory', 'sqlite'] as const).filter((name) => name === (values.storage ?? name));
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const ms = (Number(values.minutes) * 60_000) / storages.length;
if (!Number.isSafeInteger(seed) || !(ms > 0 && ms < Infinity)) {
  throw new TypeError('--seed must be an integer, --minutes a positive number, and --storage memory or sqlite');
}

for (const storage of storages) {
  try {
    console.log(
      `${storage}: ${await search({ storage, seed, path: values.path, ms })} cases, seed ${seed}, none failed`,
    );
  } catch (error) {
    // Long bodies consist of one repeated character.
    console.log(`${storage}:`, inspect(error).replaceAll(/(.)\1{99,}/g, '$1…'));
    process.exitCode = 1;
  }
}
