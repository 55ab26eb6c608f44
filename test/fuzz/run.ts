import { inspect, parseArgs } from 'node:util';
import { search } from './search.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 30)) },
    path: { type: 'string' },
  },
});

const seed = Number(values.seed);
console.log(`seed ${seed}`);
try {
  const cases = await search({ seed, path: values.path, ms: Number(values.minutes) * 60_000 });
  console.log(`${cases} cases, none failed`);
} catch (error) {
  // Long bodies consist of one repeated character.
  console.log(inspect(error).replaceAll(/(.)\1{99,}/g, '$1…'));
  process.exitCode = 1;
}
