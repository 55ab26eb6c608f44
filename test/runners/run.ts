// Runs the suite for adapters under Vitest. Requires dist and `npm ci --prefix test/runners`.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../support/run-program.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

async function runVitest(env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', import.meta.url));
  const { code, stdout, stderr } = await runProgram(
    process.execPath,
    [vitest, 'run', '--root', root, '--reporter=verbose'],
    {
      env: { ...process.env, NO_COLOR: '1', ...env },
      timeoutMs: 120_000,
    },
  );
  return { code, output: stdout + stderr };
}

const good = await runVitest({});
assert.equal(good.code, 0, good.output);
// Two adapters. The tests that need options or optional methods which they lack are skipped.
assert.match(good.output, /Tests +66 passed \| 12 skipped/, good.output);

const broken = await runVitest({ BROKEN: '1' });
assert.equal(broken.code, 1, broken.output);
assert.match(
  broken.output,
  /ContractError: .* list\('ada', after: -9223372036854775808, limit: 1\) returned other plants\./,
  broken.output,
);

console.log('The suite passes and fails under Vitest as it does under node:test.');
