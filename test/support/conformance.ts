import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { Tokens } from '../conformance/client.ts';
import { commandEnvironment, runProgram } from './run-program.ts';
import type { Finished } from './run-program.ts';

const program = fileURLToPath(new URL('../conformance/run.ts', import.meta.url));

/** Runs `npm run conformance` without npm. */
export function runConformance(
  url: string,
  tokens: Tokens,
  { env = {}, skipped = [] }: { env?: Record<string, string>; skipped?: readonly string[] } = {},
): Promise<Finished> {
  const { a, b, readOnly } = tokens;
  const flags = ['--token', a, '--token', b, ...(readOnly === undefined ? [] : ['--read-only-token', readOnly])];
  for (const id of skipped) flags.push('--skip', id);
  const args = ['--test-reporter=tap', program, url, ...flags];
  return runProgram(process.execPath, args, { env: commandEnvironment(env), timeoutMs: 300_000 });
}

/** Asserts that the server at a URL passes all checks except `skipped`, and that no token is printed. */
export async function assertConforms(
  url: string,
  tokens: Tokens,
  options?: Parameters<typeof runConformance>[2],
): Promise<void> {
  const { code, stdout, stderr } = await runConformance(url, tokens, options);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  const counts = { fail: 0, skipped: options?.skipped?.length ?? 0, todo: 0 };
  for (const [name, count] of Object.entries(counts)) {
    assert.match(stdout, new RegExp(`^# ${name} ${count}$`, 'm'), stdout);
  }
  for (const token of Object.values(tokens as unknown as Record<string, string>)) assert.ok(!stdout.includes(token));
}
