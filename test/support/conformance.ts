import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Tokens } from '../conformance/client.ts';
import { commandEnvironment, runProgram } from './run-program.ts';
import type { Finished } from './run-program.ts';

const program = fileURLToPath(new URL('../conformance/run.ts', import.meta.url));

/** Runs `npm run conformance` without npm. */
export function runConformance(url: string, tokens: Tokens, env: Record<string, string> = {}): Promise<Finished> {
  const { a, b, readOnly } = tokens;
  const flags = ['--token', a, '--token', b, ...(readOnly === undefined ? [] : ['--read-only-token', readOnly])];
  const args = ['--test-reporter=tap', program, url, ...flags];
  return runProgram(process.execPath, args, { env: commandEnvironment(env), timeoutMs: 300_000 });
}

/** Asserts that the server at a URL passes all checks, and that no token is printed. */
export async function assertConforms(url: string, tokens: Tokens, env?: Record<string, string>): Promise<void> {
  const { code, stdout, stderr } = await runConformance(url, tokens, env);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  for (const count of ['fail', 'skipped', 'todo']) assert.match(stdout, new RegExp(`^# ${count} 0$`, 'm'), stdout);
  for (const token of Object.values(tokens as unknown as Record<string, string>)) assert.ok(!stdout.includes(token));
}
