import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Readiness } from '../../../src/cli/admin/readiness.ts';
import { Log } from '../../../src/cli/output/log.ts';
import { eventuallyEqual } from '../../support/eventually.ts';
import { Hold, HookedStorage } from '../../support/hooked-storage.ts';

it('Readiness › runs at most one check at a time, and waits a second for its result', async (t) => {
  const held = new Hold();
  const storage = new HookedStorage();
  storage.beforeCommit = held.hook;
  const commits = t.mock.method(storage, 'commit').mock;
  const readiness = new Readiness(storage, new Log({ format: 'json', level: 'error' }));
  // Keeps the process running, because the timers of a Readiness do not.
  const running = setInterval(() => undefined, 1000);
  t.after(() => {
    clearInterval(running);
  });
  const late = 'It did not respond within a second.';
  assert.deepEqual(await Promise.all([readiness.storageProblem(), readiness.storageProblem()]), [late, late]);
  assert.equal(commits.callCount(), 1);
  held.release();
  await eventuallyEqual(() => readiness.storageProblem(), '');
});
