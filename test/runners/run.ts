// Runs the suite under other test runners than node:test; needs dist and `npm ci --prefix test/runners`.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

async function runVitest(env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', import.meta.url));
  const child = spawn(process.execPath, [vitest, 'run', '--root', root, '--reporter=verbose'], {
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, output: stdout + stderr };
}

const good = await runVitest({});
assert.equal(good.code, 0, good.output);
// Two adapters; what their options leave unproven is skipped aloud.
assert.match(good.output, /Tests +78 passed \| 6 skipped/, good.output);

const broken = await runVitest({ BROKEN: '1' });
assert.equal(broken.code, 1, broken.output);
assert.match(broken.output, /ContractError: list\(after: 10, limit: 1\) returned 10 again\./, broken.output);

console.log('The suite passes and fails under Vitest as it does under node:test.');
