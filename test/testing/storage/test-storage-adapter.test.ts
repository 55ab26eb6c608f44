import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { runSuites } from '../../support/suite-results.ts';
import type { SuiteRun } from '../../support/suite-results.ts';
import { brokenCommits } from './broken-commits.ts';
import { brokenLists } from './broken-lists.ts';
import { brokenLogs } from './broken-logs.ts';

const broken = Object.entries({ ...brokenLists, ...brokenCommits, ...brokenLogs });
const correct = ['MapStorage', 'LogStorage', 'LogStorage without options'];

function patternFor(name: string, test = ''): string {
  return `^${name} as a StorageAdapter ${test}`;
}

describe('testStorageAdapter', () => {
  let run: SuiteRun;
  before(async () => {
    run = await runSuites(new URL('suites.ts', import.meta.url), [
      ...correct.map((name) => patternFor(name)),
      ...broken.map(([name, [, test]]) => patternFor(name, test)),
      patternFor('NeverSettles', 'a batch'),
    ]);
  });
  const resultsOf = (name: string): SuiteRun['results'] =>
    run.results.filter(({ suite }) => suite === `${name} as a StorageAdapter`);
  const failuresOf = (name: string): string[] => resultsOf(name).flatMap(({ failure }) => failure ?? []);

  for (const [name, [, test]] of broken) {
    it(`fails on ${name}`, (t) => {
      const [failure = assert.fail(run.output)] = failuresOf(name);
      assert.ok(failure.length < 2000, `The message is too long: ${failure.length} characters.`);
      t.diagnostic(`${test}: ${failure.split('\n')[0] ?? ''}`);
    });
  }

  for (const name of correct) {
    it(`passes on the correct adapter ${name}`, () => {
      assert.ok(resultsOf(name).length > 14, run.output);
      assert.deepEqual(failuresOf(name), []);
    });
  }

  it('fails on an adapter whose commit never settles, and ends', () => {
    assert.match(failuresOf('NeverSettles')[0] ?? '', /timed out/);
  });

  it('shows the call, the first difference and the random calls that led to it', () => {
    assert.match(failuresOf('ListsPrefix')[0] ?? '', /list\('a\/', .*\nExpected undefined but received \{ id: 7n, /);
    assert.match(
      failuresOf('CommitsEachStatement')[0] ?? '',
      /\nThe calls:\n(?: {2}\d+\. .*\n)* .*, which fails at create 50$/,
    );
  });

  it('reports why tests are skipped', () => {
    const reasons = resultsOf('LogStorage without options').flatMap(({ skipped }) => skipped ?? []);
    assert.deepEqual([...new Set(reasons)].sort(), [
      'The adapter has no dataVersion.',
      'The location has no reopen.',
      'The option makeWriteFail is missing.',
    ]);
  });
});
