import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { search } from './search.ts';
import type { StorageName } from './search.ts';

/** FUZZ_SEED and FUZZ_PATH, from a report, repeat one case. */
const { FUZZ_SEED: seedText, FUZZ_PATH: path } = process.env;
const seed = seedText === undefined ? Math.floor(Math.random() * 2 ** 30) : Number(seedText);
const ms = 2500;

async function assertNothingFound(t: TestContext, storage: StorageName): Promise<void> {
  const { cases, seeds, found } = await search({ storage, seed, path, ms });
  t.diagnostic(`${storage}: ${cases} cases, seeds ${seeds}`);
  const report = found.map(
    ({ message, counterexample, seed, path }) =>
      `${message}\n${counterexample}\nTo repeat it: FUZZ_SEED=${seed} FUZZ_PATH=${path}`,
  );
  assert.equal(report.join('\n'), '');
}

describe('fuzzed server', () => {
  it('responds as specified and keeps acknowledged writes, in memory', (t) => assertNothingFound(t, 'memory'));
  it('responds as specified and keeps acknowledged writes, in SQLite', (t) => assertNothingFound(t, 'sqlite'));
});
