import { describe, it } from 'node:test';
import { search } from './search.ts';

const seed = Math.floor(Math.random() * 2 ** 30);

describe('fuzzed server', () => {
  for (const storage of ['memory', 'sqlite'] as const) {
    it(`responds as specified and keeps acknowledged writes, with storage ${storage}`, async (t) => {
      t.diagnostic(`${await search({ storage, seed, ms: 1500 })} cases, seed ${seed}`);
    });
  }
});
