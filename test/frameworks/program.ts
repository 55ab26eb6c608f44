import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { TestContext } from 'node:test';
import { plainEnvironment } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/** The folder of the examples. */
export const examples: string = join(root, 'examples/frameworks');

/** The folder of the apps that only the tests use. */
export const apps: string = join(root, 'test/frameworks');

/**
 * Returns whether the packages of a folder are installed. If they are, `plant-store` is added to them. If they are not,
 * the test is skipped with a message.
 */
export function arePackagesInstalled(t: TestContext, folder: string = examples): boolean {
  const packages = join(folder, 'node_modules');
  if (!existsSync(join(packages, 'express'))) {
    t.skip(`not run: \`npm ci --prefix ${relative(root, folder)}\` installs what this test needs`);
    return false;
  }
  try {
    symlinkSync(root, join(packages, 'plant-store'), 'dir');
  } catch (error) {
    // Another test file, perhaps in parallel, has added it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  assert.ok(existsSync(join(root, 'dist/fetch.js')), 'There is no dist: run `npm run build` first.');
  return true;
}

/** Starts a program, and waits until it prints its URL or port. The program is stopped after the test. */
export function startProgram(
  t: HasAfter,
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, {
    cwd,
    env: { ...plainEnvironment(), NODE_V8_COVERAGE: '', PORT: '0', ADAS_TOKEN: 'secret', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return untilListening(t, child, /(?:http:\/\/(?:127\.0\.0\.1|localhost):|port: )(\d+)/);
}
