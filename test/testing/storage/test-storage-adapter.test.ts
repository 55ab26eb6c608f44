import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { testStorageAdapter } from '../../../src/testing.ts';
import { runSuites } from '../../support/suite-results.ts';
import type { SuiteRun } from '../../support/suite-results.ts';
import { brokenCommits } from './broken-commits.ts';
import { brokenLists } from './broken-lists.ts';
import { brokenLogs } from './broken-logs.ts';

const file = new URL('suites.ts', import.meta.url);
const broken = Object.entries({ ...brokenLists, ...brokenCommits, ...brokenLogs });
const correct = ['MapStorage', 'LogStorage', 'LogStorage without options'];

function patternFor(name: string, test = ''): string {
  return `^${name} as a StorageAdapter ${test}`;
}

describe('testStorageAdapter', () => {
  let run: SuiteRun;
  before(async () => {
    const patterns = [
      ...correct.map((name) => patternFor(name)),
      ...broken.map(([name, [, test]]) => patternFor(name, test)),
      patternFor('LogStorage without faults', 'random'),
    ];
    run = await runSuites(file, patterns);
  });
  const resultsOf = (name: string): SuiteRun['results'] =>
    run.results.filter(({ suite }) => suite === `${name} as a StorageAdapter`);

  for (const [name, [, test, message]] of broken) {
    it(`fails on ${name}`, (t) => {
      const failures = resultsOf(name).flatMap(({ failure }) => failure ?? []);
      const found =
        failures.find((failure) => failure.includes(message)) ?? assert.fail(inspect(failures) || run.output);
      assert.ok(found.length < 2000, `The message is too long: ${found.length} characters.`);
      t.diagnostic(`${test}: ${found.split('\n')[0] ?? ''}`);
    });
  }

  for (const name of correct) {
    it(`passes on the correct adapter ${name}`, () => {
      const results = resultsOf(name);
      assert.ok(results.length > 14, run.output);
      assert.deepEqual(
        results.filter(({ failure }) => failure !== undefined),
        [],
      );
    });
  }

  it('reports why tests are skipped', () => {
    const reasons = resultsOf('LogStorage without options').flatMap(({ skipped }) => skipped ?? []);
    assert.deepEqual([...new Set(reasons)].sort(), [
      'The adapter has no dataVersion.',
      'The location has no reopen.',
      'The option makeWriteFail is missing.',
    ]);
  });

  it('blames makeWriteFail if it has no effect', () => {
    const [{ failure } = {}] = resultsOf('LogStorage without faults');
    assert.match(failure ?? '', /^makeWriteFail has no effect: the (?:create|delete) was applied\./);
  });

  for (const [options, message] of [
    [{ createLocation: 'a folder' }, 'createLocation must be a function'],
    [{ persistent: undefined }, 'persistent must be true or false'],
    [{ makeWriteFail: true }, 'makeWriteFail must be a function'],
    [{ timeoutMs: 0 }, 'timeoutMs must be an integer from 1 to 2147483647'],
    [{ runner: {} }, 'testStorageAdapter has no option runner'],
  ] as const) {
    it(`throws a TypeError: ${message}`, () => {
      const all = { createLocation: () => assert.fail(), persistent: false, ...options } as never;
      const isRight = (error: unknown): boolean => error instanceof TypeError && error.message.startsWith(message);
      assert.throws(() => {
        testStorageAdapter('MapStorage', all);
      }, isRight);
    });
  }
});
