import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { search } from './search.ts';

/** The report of a failure contains the seed and the path of its case. With a path, the search starts at this case. */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0.03' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 30)) },
    path: { type: 'string', default: '' },
  },
});

it('fuzzed services › respond as specified and keep acknowledged writes', async (t) => {
  const seed = Number(values.seed);
  const cases = await search(Number(values.minutes) * 60_000, seed, values.path);
  t.diagnostic(`${cases} cases, seed ${seed}`);
});
