import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { MemoryStorage } from '../../../../src/index.ts';
import type { StorageAdapter } from '../../../../src/index.ts';
import { StorageProbe } from '../../../../src/tools/cli/admin/storage-probe.ts';
import { Log } from '../../../../src/tools/cli/output/log.ts';
import { eventually } from '../../../support/eventually.ts';
import { heldStorage } from '../../../support/held-storage.ts';

/** Creates a probe. `logged` contains the errors and other messages that the probe has logged. */
function probeOf(t: TestContext, storage: StorageAdapter): { probe: StorageProbe; logged: unknown[] } {
  const logged: unknown[] = [];
  const log = new Log('off');
  log.error = (_, error) => logged.push(error);
  log.info = (message) => logged.push(message);
  // Keeps the process running, because a probe's timers do not.
  const running = setInterval(() => undefined, 1000);
  t.after(() => {
    clearInterval(running);
  });
  return { probe: new StorageProbe(storage, log), logged };
}

async function becomes(probe: StorageProbe, works: boolean): Promise<void> {
  await eventually(async () => {
    assert.equal(await probe.works(), works);
  });
}

describe('StorageProbe', { concurrency: true }, () => {
  it('runs at most one check at a time, waits a second for its result, and can be stopped', async (t) => {
    const { storage, release, calls } = heldStorage();
    const { probe } = probeOf(t, storage);
    assert.deepEqual(await Promise.all([probe.works(), probe.works()]), [false, false]);
    assert.equal(await probe.works(), false);
    assert.equal(calls(), 1);
    release();
    await becomes(probe, true);
    probe.stop();
    assert.equal(await probe.works(), undefined);
  });

  it('reuses a result for a second, and logs the recovery and only the first of consecutive failures', async (t) => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const { probe, logged } = probeOf(t, storage);
    let checks = 0;
    const fail = (): Promise<never> => Promise.reject(new Error(`fault ${++checks}`));
    storage.commit = fail;
    for (let n = 0; n < 3; n++) assert.equal(await probe.works(), false);
    assert.equal(checks, 1);
    await eventually(async () => {
      assert.equal(await probe.works(), false);
      assert.equal(checks, 2);
    });
    storage.commit = commit;
    await becomes(probe, true);
    storage.commit = fail;
    await becomes(probe, false);
    assert.deepEqual(logged, [new Error('fault 1'), 'The storage works now.', new Error('fault 3')]);
  });

  it('retries once for all failed requests until the storage works, and logs only the recovery', async (t) => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const { probe, logged } = probeOf(t, storage);
    let failures = 0;
    const expected: unknown[] = [];
    for (const [isLogged, messages] of [
      [false, [undefined, 'The storage works now.']],
      [true, ['The storage works now.']],
    ] as const) {
      const before = failures;
      storage.commit = () => Promise.reject(new Error(`fault ${++failures}`));
      await eventually(() => {
        for (let n = 0; n < 10; n++) void probe.start(isLogged);
        assert.equal(failures, before + 1);
      });
      storage.commit = commit;
      expected.push(...messages);
      await eventually(() => {
        assert.deepEqual(logged, expected);
      });
    }
  });

  it('logs a failure that occurs after more than a second', async (t) => {
    const storage = new MemoryStorage();
    const late = Promise.withResolvers<boolean[]>();
    storage.commit = () => late.promise;
    const { probe, logged } = probeOf(t, storage);
    assert.equal(await probe.works(), false);
    const error = new Error('query timeout');
    late.reject(error);
    await eventually(() => {
      assert.deepEqual(logged, [error]);
    });
  });
});
