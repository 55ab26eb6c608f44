import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';

/**
 * Runs a program in a folder, asserts that it exits with 0, and returns its standard output. npm and its child
 * processes use the Node.js that runs the tests. Coverage is not measured in these processes.
 */
export function run(cwd: string, program: string, args: string[]): Promise<string> {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  return runSuccessfully(program, args, { cwd, env: { ...plainEnvironment(), PATH, NODE_V8_COVERAGE: '' } });
}

/** The description that `npm pack --json` prints for a tarball. */
interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { path: string }[];
}

/** Writes the tarball into a folder. Requires `dist`. */
export async function pack(folder: string): Promise<Packed> {
  assert.ok(existsSync(join(root, 'dist/index.js')), 'There is no dist: run `npm run build` first.');
  // Without --ignore-scripts, prepack would replace dist while other tests use it.
  const stdout = await run(root, 'npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]);
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, Packed>);
  assert.ok(packed);
  return packed;
}

/** Makes a folder an ES module package in which the tarball is installed. */
export async function install(folder: string): Promise<Packed> {
  const packed = await pack(folder);
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run(folder, 'npm', ['install', ...flags, `./${packed.filename}`]);
  return packed;
}
