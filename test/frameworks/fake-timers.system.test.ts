import { after, before, describe, it } from 'node:test';
import { join } from 'node:path';
import { PostgresCluster } from '../support/postgres.ts';
import { plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { apps, arePackagesInstalled } from './program.ts';

const files = join(apps, 'apps');
const packages = join(apps, 'node_modules');

/** The Node.js arguments that run a test file of `apps` under each test runner. */
const runners = {
  'node:test': ['--test', join(files, 'node-test.test.js')],
  Vitest: [join(packages, 'vitest/vitest.mjs'), 'run', '--root', files, 'vitest.test.js'],
  Jest: [
    '--experimental-vm-modules',
    join(packages, 'jest/bin/jest.js'),
    '--rootDir',
    files,
    '--transform',
    '{}',
    'jest.test.js',
  ],
};

describe('fake timers', () => {
  let cluster: PostgresCluster;
  before(async () => {
    cluster = await PostgresCluster.start();
  });
  after(() => cluster.remove());

  for (const [name, args] of Object.entries(runners)) {
    it(`of ${name} do not delay a store, a fetch handler or a server`, async (t) => {
      if (!arePackagesInstalled(t, apps)) return;
      const env = { ...plainEnvironment(), DATABASE_URL: await cluster.makeDatabase(), NO_COLOR: '1' };
      await runSuccessfully(process.execPath, args, { cwd: apps, env, timeoutMs: 60_000 });
    });
  }
});
