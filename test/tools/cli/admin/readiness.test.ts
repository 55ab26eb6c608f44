import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { MemoryStorage } from '../../../../src/index.ts';
import type { StorageAdapter } from '../../../../src/index.ts';
import { Readiness } from '../../../../src/tools/cli/admin/readiness.ts';
import { Log } from '../../../../src/tools/cli/output/log.ts';
import { eventually } from '../../../support/eventually.ts';
import { heldStorage } from '../../../support/held-storage.ts';

/** `logged` contains the errors and other messages that have been logged. */
function readinessOf(t: TestContext, storage: StorageAdapter): { readiness: Readiness; logged: unknown[] } {
  const logged: unknown[] = [];
  const log = new Log({ format: 'json' });
  log.error = (_, error) => logged.push(error);
  log.info = (message) => logged.push(message);
  // Keeps the process running, because the timers of a Readiness do not.
  const running = setInterval(() => undefined, 1000);
  t.after(() => {
    clearInterval(running);
  });
  return { readiness: new Readiness(storage, log), logged };
}

async function becomes(readiness: Readiness, works: boolean): Promise<void> {
  await eventually(async () => {
    assert.equal(await readiness.works(), works);
  });
}

describe('Readiness', { concurrency: true }, () => {
  it('runs at most one check at a time, waits a second for its result, and can be stopped', async (t) => {
    const { storage, release, calls } = heldStorage();
    const { readiness } = readinessOf(t, storage);
    assert.deepEqual(await Promise.all([readiness.works(), readiness.works()]), [false, false]);
    assert.equal(calls(), 1);
    release();
    await becomes(readiness, true);
    readiness.stop();
    assert.equal(await readiness.works(), undefined);
  });

  it('reuses a result for a second, and logs the first of consecutive failures and the recovery', async (t) => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const { readiness, logged } = readinessOf(t, storage);
    let checks = 0;
    const fail = (): Promise<never> => Promise.reject(new Error(`fault ${++checks}`));
    storage.commit = fail;
    for (let n = 0; n < 3; n++) assert.equal(await readiness.works(), false);
    assert.equal(checks, 1);
    await eventually(async () => {
      assert.equal(await readiness.works(), false);
      assert.equal(checks, 2);
    });
    storage.commit = commit;
    await becomes(readiness, true);
    storage.commit = fail;
    await becomes(readiness, false);
    assert.equal(logged.length, 3);
    const causes = [logged[0], logged[2]].map((error) => (error as Error).cause);
    assert.deepEqual(causes, [new Error('fault 1'), new Error('fault 3')]);
    assert.match(String(logged[1]), /works again/);
  });
});
