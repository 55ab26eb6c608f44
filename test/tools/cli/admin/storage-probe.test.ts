import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MemoryStorage } from '../../../../src/index.ts';
import { StorageProbe } from '../../../../src/tools/cli/admin/storage-probe.ts';
import { Log } from '../../../../src/tools/cli/output/log.ts';
import { eventually } from '../../../support/eventually.ts';
import { heldStorage } from '../../../support/held-storage.ts';

/** A log that records the errors instead of writing them. */
class ErrorList extends Log {
  readonly errors: unknown[] = [];

  constructor() {
    super('off');
  }

  override error(_: string, error?: unknown): void {
    this.errors.push(error);
  }
}

const log = new Log('off');

describe('StorageProbe', () => {
  // The timers of a probe do not keep the process running.
  let running: NodeJS.Timeout;
  before(() => {
    running = setInterval(() => undefined, 1000);
  });
  after(() => {
    clearInterval(running);
  });

  it('finds that the storage works, until it is stopped', async () => {
    const probe = new StorageProbe(new MemoryStorage(), log);
    assert.equal(await probe.works(), true);
    probe.stop();
    assert.equal(await probe.works(), undefined);
  });

  it('waits a second for the storage, with at most one check at a time', async () => {
    const { storage, release, calls } = heldStorage();
    const probe = new StorageProbe(storage, log);
    assert.deepEqual(await Promise.all([probe.works(), probe.works()]), [false, false]);
    assert.equal(await probe.works(), false);
    assert.equal(calls(), 1);
    release();
    await eventually(async () => {
      assert.equal(await probe.works(), true);
    });
  });

  it('uses the result of a check for a second', async () => {
    const storage = new MemoryStorage();
    let checks = 0;
    let works = false;
    storage.commit = () => {
      checks++;
      return works ? Promise.resolve([false]) : Promise.reject(new Error('disk full'));
    };
    const probe = new StorageProbe(storage, log);
    for (let n = 0; n < 3; n++) assert.equal(await probe.works(), false);
    assert.equal(checks, 1);
    works = true;
    await eventually(async () => {
      assert.equal(await probe.works(), true);
    });
    assert.equal(checks, 2);
  });

  it('logs the first failure of several in a row', async () => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const recorded = new ErrorList();
    const probe = new StorageProbe(storage, recorded);
    const becomes = (works: boolean): Promise<void> =>
      eventually(async () => {
        assert.equal(await probe.works(), works);
      });
    await becomes(true);
    const faults = [1, 2, 3].map((n) => new Error(`fault ${n}`));
    let failed = 0;
    const fail = (): Promise<never> => Promise.reject(faults[failed++] ?? new Error('too many checks'));
    storage.commit = fail;
    await eventually(async () => {
      await probe.works();
      assert.equal(failed, 2);
    });
    storage.commit = commit;
    await becomes(true);
    storage.commit = fail;
    await becomes(false);
    assert.deepEqual(recorded.errors, [faults[0], faults[2]]);
  });

  it('logs a failure that it finds after a second', async () => {
    const storage = new MemoryStorage();
    const late = Promise.withResolvers<boolean[]>();
    storage.commit = () => late.promise;
    const recorded = new ErrorList();
    const probe = new StorageProbe(storage, recorded);
    assert.equal(await probe.works(), false);
    const error = new Error('query timeout');
    late.reject(error);
    await eventually(() => {
      assert.deepEqual(recorded.errors, [error]);
    });
  });
});
