import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { search } from './search.ts';
import type { StorageName } from './search.ts';

/** FUZZ_SEED and FUZZ_PATH, as a report names them, run that case again. */
const { FUZZ_SEED: seedText, FUZZ_PATH: path } = process.env;
const seed = seedText === undefined ? Math.floor(Math.random() * 2 ** 30) : Number(seedText);
const ms = 2500;

async function assertNothingFound(t: TestContext, storage: StorageName): Promise<void> {
  const { cases, seeds, found } = await search({ storage, seed, path, ms });
  t.diagnostic(`${storage}: ${cases} cases, seeds ${seeds}`);
  const report = found.map(
    ({ message, counterexample, seed, path }) =>
      `${message}\n${counterexample}\nagain: FUZZ_SEED=${seed} FUZZ_PATH=${path}`,
  );
  assert.equal(report.join('\n'), '');
}

describe('Whatever clients send', () => {
  it('is answered by the rules, and leaves what was acknowledged, in memory', (t) => assertNothingFound(t, 'memory'));
  it('is answered by the rules, and leaves what was acknowledged, in SQLite', (t) => assertNothingFound(t, 'sqlite'));
});
