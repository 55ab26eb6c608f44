import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';

/**
 * Returns the path of a program from a test folder with its own package.json, such as `test/runtimes`. If the program
 * is not installed, the test is skipped with a message that says how to install it, and the result is `undefined`.
 */
export function findProgram(t: TestContext, folder: 'package' | 'runtimes', path: string): string | undefined {
  const program = fileURLToPath(new URL(`../${folder}/node_modules/${path}`, import.meta.url));
  if (existsSync(program)) return program;
  t.skip(`not run: \`npm ci --prefix test/${folder}\` installs what this test needs`);
  return undefined;
}
