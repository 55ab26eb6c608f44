import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';

/**
 * A program of the package in this folder, which `npm ci --prefix test/runtimes` installs.
 *
 * @returns its path; `undefined` if it is not installed: the test is then skipped, and says why.
 */
export function findProgram(t: TestContext, path: string): string | undefined {
  const program = fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
  if (existsSync(program)) return program;
  t.skip('`npm ci --prefix test/runtimes` installs what this test needs');
  return undefined;
}
