import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { runSuites } from '../support/suite-results.ts';
import type { SuiteResult, SuiteRun } from '../support/suite-results.ts';
import { faults, hangingFaults } from './faults.ts';

const failing = [
  ...faults,
  ...hangingFaults,
  { name: 'shares plants', test: 'adapters at one location' },
  { name: 'does not share plants', test: 'adapters at one location' },
];
const correct = ['DiskStorage', 'DiskStorage that is not shared', 'DiskStorage without options'];

function patternFor(name: string, test = ''): string {
  return `^${name} as a StorageAdapter ${test}`;
}

describe('testStorageAdapter', () => {
  let run: SuiteRun;
  before(async () => {
    run = await runSuites(new URL('suites.ts', import.meta.url), [
      ...correct.map((name) => patternFor(name)),
      ...failing.map(({ name, test }) => patternFor(name, test)),
      patternFor('never lists'),
    ]);
  });
  const resultsOf = (name: string): SuiteResult[] =>
    run.results.filter(({ suite }) => suite === `${name} as a StorageAdapter`);
  const failureOf = (name: string): string =>
    resultsOf(name).find(({ failure }) => failure !== undefined)?.failure ?? assert.fail(run.output);

  for (const { name, test } of failing) {
    it(`fails on an adapter that ${name}`, (t) => {
      const failure = failureOf(name);
      t.diagnostic(`${test}: ${failure}`);
      assert.ok(failure.length < 2000, `The message is too long: ${failure.length} characters.`);
    });
  }

  for (const name of correct) {
    it(`passes on the correct adapter ${name}`, () => {
      const failures = resultsOf(name).map(({ failure }) => failure);
      assert.ok(failures.length > 11, run.output);
      assert.deepEqual(new Set(failures), new Set([undefined]));
    });
  }

  it('names a call that does not settle, and skips the rest after three such calls', () => {
    assert.match(failureOf('never lists'), /^list\('user 0', \{ after: undefined, limit: 1000 \}\) did not settle/);
    const results = resultsOf('never lists');
    assert.equal(results.filter(({ failure }) => failure !== undefined).length, 3);
    assert.equal(
      results.filter(({ skipped }) => skipped === '3 calls did not settle in time.').length,
      results.length - 3,
    );
  });

  it('shows the shortest sequence of calls that fails', () => {
    assert.match(failureOf('overwrites plants'), /\nThe calls:\n {2}1\. .* commit\(.*\n {2}2\. .* commit\(.*$/);
  });

  it('reports why tests are skipped', () => {
    const reasons = resultsOf('DiskStorage without options').flatMap(({ skipped }) => skipped ?? []);
    assert.deepEqual(reasons.sort(), ['The location has no reopen.', 'The option makeWriteFail is missing.']);
  });
});
