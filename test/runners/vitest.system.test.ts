import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../support/installed-program.ts';
import { plainEnvironment, runProgram } from '../support/run-program.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Runs conformance.test.js. Returns `undefined` if Vitest is not installed. */
async function runVitest(
  t: TestContext,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string } | undefined> {
  const vitest = findProgram(t, 'runners', 'vitest/vitest.mjs');
  if (vitest === undefined) return undefined;
  const args = [vitest, 'run', 'conformance.test.js', '--root', root, '--reporter=verbose'];
  const { code, stdout, stderr } = await runProgram(process.execPath, args, {
    env: { ...plainEnvironment(), NO_COLOR: '1', ...env },
    timeoutMs: 120_000,
  });
  return { code, output: stdout + stderr };
}

describe('the suite for adapters under Vitest', () => {
  it('passes for correct adapters', async (t) => {
    const result = await runVitest(t, {});
    if (result === undefined) return;
    assert.equal(result.code, 0, result.output);
    // Tests that need an option or an optional method are skipped if the adapter lacks it.
    assert.match(result.output, /Tests +66 passed \| 12 skipped/, result.output);
  });

  it('fails for an adapter that breaks the contract', async (t) => {
    const result = await runVitest(t, { BROKEN: '1' });
    if (result === undefined) return;
    assert.equal(result.code, 1, result.output);
    const violation = /ContractError: .* list\('ada', after: -9223372036854775808, limit: 1\) returned other plants\./;
    assert.match(result.output, violation, result.output);
  });
});
