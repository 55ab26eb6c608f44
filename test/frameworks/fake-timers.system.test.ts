import { it } from 'node:test';
import { join } from 'node:path';
import { PostgresCluster } from '../support/postgres.ts';
import { plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { apps, arePackagesInstalled } from './program.ts';

it('fake timers of Jest do not delay a store, a fetch handler or a server', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const cluster = await PostgresCluster.start();
  t.after(() => cluster.remove());
  const jest = join(apps, 'node_modules/jest/bin/jest.js');
  const options = ['--rootDir', join(apps, 'apps'), '--transform', '{}', 'fake-timers.test.js'];
  const env = { ...plainEnvironment(), DATABASE_URL: cluster.url(), NO_COLOR: '1' };
  const args = ['--experimental-vm-modules', jest, ...options];
  await runSuccessfully(process.execPath, args, { cwd: apps, env, timeoutMs: 60_000 });
});
