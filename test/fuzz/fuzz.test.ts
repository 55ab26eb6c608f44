import { it } from 'node:test';
import { search } from './search.ts';

it('fuzzed services › respond as specified and keep acknowledged writes', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 30);
  t.diagnostic(`${await search({ seed, ms: 3000 })} cases, seed ${seed}`);
});
