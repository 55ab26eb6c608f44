import { fileURLToPath } from 'node:url';
import { plainEnvironment, runProgram } from './run-program.ts';
import { tsx } from './sources.ts';
import { resultMark } from './suite-reporter.ts';

const reporter = new URL('suite-reporter.ts', import.meta.url).href;

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
  const names = patterns.map((pattern) => `--test-name-pattern=${pattern}`);
  const args = ['--import', tsx, `--test-reporter=${reporter}`, ...names, fileURLToPath(file)];
  const { stdout, stderr } = await runProgram(process.execPath, args, { env: plainEnvironment(), timeoutMs });
  const lines = stdout.split('\n').filter((line) => line.startsWith(resultMark));
  const results = lines.map((line) => JSON.parse(line.slice(resultMark.length)) as SuiteResult);
  return { results, output: stdout + stderr };
}
