import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { Readiness } from '../../../src/cli/admin/readiness.ts';
import { eventually } from '../../support/eventually.ts';
import { heldStorage } from '../../support/held-storage.ts';

const noAnswer = 'the storage does not answer';

describe('Readiness', () => {
  it('is ready between the start and the stop', async () => {
    const readiness = new Readiness();
    assert.equal(await readiness.problem(), 'starting');
    readiness.serving(new MemoryStorage());
    assert.equal(await readiness.problem(), undefined);
    readiness.draining();
    assert.equal(await readiness.problem(), 'draining');
    assert.equal(await readiness.storageWorks(), undefined);
  });

  it('waits a second for the storage, with at most one probe at a time', async () => {
    const { storage, release, calls } = heldStorage();
    const readiness = new Readiness();
    readiness.serving(storage);
    assert.deepEqual(await Promise.all([readiness.problem(), readiness.problem()]), [noAnswer, noAnswer]);
    assert.equal(await readiness.problem(), noAnswer);
    assert.equal(calls(), 1);
    release();
    await eventually(async () => {
      assert.equal(await readiness.problem(), undefined);
    });
  });

  it('uses the result of a probe for a second', async () => {
    const storage = new MemoryStorage();
    let probes = 0;
    let works = false;
    storage.commit = () => {
      probes++;
      return works ? Promise.resolve([false]) : Promise.reject(new Error('disk full'));
    };
    const readiness = new Readiness();
    readiness.serving(storage);
    for (let n = 0; n < 3; n++) assert.equal(await readiness.problem(), noAnswer);
    assert.equal(await readiness.storageWorks(), false);
    assert.equal(probes, 1);
    works = true;
    await eventually(async () => {
      assert.equal(await readiness.problem(), undefined);
    });
    assert.equal(probes, 2);
  });
});
