import { delimiter, dirname } from 'node:path';
import { plainEnvironment, runProgram, runSuccessfully } from '../support/run-program.ts';
import type { Finished } from '../support/run-program.ts';

/** npm and its child processes use the same Node.js as the tests. Coverage is not measured in them. */
function environment(): NodeJS.ProcessEnv {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  return { ...plainEnvironment(), PATH, NODE_V8_COVERAGE: '' };
}

/** Runs a program in a folder until it ends. */
export function runToEnd(cwd: string, program: string, args: string[]): Promise<Finished> {
  return runProgram(program, args, { cwd, env: environment() });
}

/** Runs a program in a folder, asserts that it exits with 0, and returns its standard output. */
export function run(cwd: string, program: string, args: string[]): Promise<string> {
  return runSuccessfully(program, args, { cwd, env: environment() });
}
