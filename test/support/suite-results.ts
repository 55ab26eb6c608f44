import { run } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { tsx } from './sources.ts';

/** The result of one test of a suite. */
export interface SuiteResult {
  readonly suite: string;
  readonly test: string;
  /** The message of the error; `undefined` if the test passed or was skipped. */
  readonly failure: string | undefined;
  /** The reason why the test was skipped, or did not fail the run. */
  readonly skipped: string | undefined;
}

/** The tests of a file that were run. */
export interface SuiteRun {
  readonly results: readonly SuiteResult[];
  readonly output: string;
}

/** Runs a file that registers tests, in a process of its own. Runs only the tests whose names match a pattern. */
export async function runSuites(file: URL, patterns: readonly string[], timeoutMs = 120_000): Promise<SuiteRun> {
  // With this variable, run() runs nothing.
  delete process.env['NODE_TEST_CONTEXT'];
  const names: string[] = [];
  const results: SuiteResult[] = [];
  let output = '';
  const options = { testNamePatterns: [...patterns], execArgv: ['--import', tsx], timeout: timeoutMs };
  for await (const { type, data } of run({ files: [fileURLToPath(file)], ...options }) as AsyncIterable<TestEvent>) {
    if (type === 'test:stdout' || type === 'test:stderr') output += data.message;
    if (type === 'test:start') names[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, nesting, skip, todo } = data;
    const error = type === 'test:fail' ? data.details.error : undefined;
    const cause = error?.cause ?? error;
    const failure = cause instanceof Error ? cause.message : error && String(cause);
    const reason = skip ?? todo;
    const skipped = reason === undefined ? undefined : String(reason);
    if (data.details.type === 'suite') output += failure ?? '';
    else results.push({ suite: names.slice(0, nesting).join('.'), test: name, failure, skipped });
  }
  return { results, output };
}
