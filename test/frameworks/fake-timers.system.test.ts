import { join } from 'node:path';
import { it } from 'node:test';
import { PostgresCluster } from '../support/postgres.ts';
import { plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { apps, arePackagesInstalled } from './program.ts';

const packages = join(apps, 'node_modules');
const folder = join(apps, 'apps');

/** The Node.js arguments that run a test file of `apps` with each test runner. */
const runners = {
  Vitest: [join(packages, 'vitest/vitest.mjs'), 'run', '--globals', '--root', folder],
  Jest: ['--experimental-vm-modules', join(packages, 'jest/bin/jest.js'), '--transform', '{}', '--rootDir', folder],
};

/** The test runners fail a test after five seconds by default. */
const flags = ['--testTimeout=60000', 'fake-timers.test.js'];

it('fake timers do not delay a store, a fetch handler or a server', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const cluster = await PostgresCluster.start(t);
  for (const [name, args] of Object.entries(runners)) {
    await t.test(name, async () => {
      const env = { ...plainEnvironment(), DATABASE_URL: await cluster.makeDatabase(), NO_COLOR: '1' };
      await runSuccessfully(process.execPath, [...args, ...flags], { cwd: apps, env, timeoutMs: 300_000 });
    });
  }
});
