import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { plainEnvironment } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import { skipWithout } from '../support/system-fault.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

export const examples: string = join(root, 'examples/frameworks');

/** The folder of the apps that only the tests use. */
export const apps: string = join(root, 'test/frameworks');

/**
 * Adds `plant-store` to the packages of a folder. Returns the reason to skip tests if the packages are not installed;
 * otherwise `false`.
 */
export function addPlantStore(folder: string): string | false {
  const reason = skipWithout(relative(root, folder));
  if (reason !== false) return reason;
  try {
    symlinkSync(root, join(folder, 'node_modules/plant-store'), 'dir');
  } catch (error) {
    // Another test file, perhaps in parallel, has added it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  assert.ok(existsSync(join(root, 'dist/fetch.js')), 'There is no dist: run `npm run build` first.');
  return false;
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
