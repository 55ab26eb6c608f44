import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseArgs } from 'node:util';
import { search } from './search.ts';

/** The path of a case, with which the search starts, is in the report of a failure. */
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
  assert.ok(cases > 0);
  t.diagnostic(`${cases} cases, seed ${seed}`);
});
