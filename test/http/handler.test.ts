import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import { outcome } from '../support/call.ts';
import type { Answered } from '../support/call.ts';
import { heldStorage } from '../support/held-storage.ts';
import { describeOnBothFronts, startService } from '../support/service.ts';

const fern = { body: '{"id":1,"name":"Fern"}' };

const withRetry = (answered: Answered): unknown[] => [...outcome(answered), answered.headers.get('retry-after')];

describe('errors', () => {
  it('thrown by the storage become 503 with Retry-After, and are reported with their cause', async (t) => {
    const storage = new MemoryStorage();
    const cause = new Error('disk full');
    storage.commit = () => Promise.reject(cause);
    const service = await startService(t, { storage });
    const answered = await service.call('POST', '/plants', fern);
    assert.deepEqual(withRetry(answered), [503, 50300, '1']);
    assert.doesNotMatch(answered.text, /disk/);
    assert.deepEqual(
      service.faults.map((fault) => (fault as Error).cause),
      [cause],
    );
  });

  it('saturated and closed become 503 with Retry-After, and are not reported', async (t) => {
    const { storage, release, committing } = heldStorage();
    const service = await startService(t, { store: new PlantStore({ storage, maxPendingWrites: 1 }) });
    const first = service.call('POST', '/plants', fern);
    await committing;
    const refused = await service.call('POST', '/plants', { body: '{"id":2,"name":"x"}' });
    assert.deepEqual(withRetry(refused), [503, 50300, '1']);
    release();
    assert.equal((await first).status, 200);
    await service.store.close();
    assert.deepEqual(withRetry(await service.call('GET', '/plants')), [503, 50300, '1']);
    assert.deepEqual(service.faults, []);
  });
});

describeOnBothFronts('an error that authenticate throws', (start) => {
  const causes: unknown[] = [
    new Error('hunter2'),
    'hunter2',
    undefined,
    ...(['invalid_user', 'id_taken', 'saturated', 'closed', 'storage_unsupported'] as const).map(
      (code) => new PlantStoreError(code, 'hunter2'),
    ),
  ];
  it('becomes 500 without details, and is reported', async (t) => {
    let cause: unknown;
    const authenticate = (token: string): Promise<never> => {
      if (token === 'ada') throw cause as Error;
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      return Promise.reject(cause);
    };
    const service = await start(t, { authenticate });
    for (cause of causes) {
      for (const token of ['ada', 'bob']) {
        const answered = await service.call('GET', '/plants', { token });
        assert.deepEqual(withRetry(answered), [500, 50000, null], String(cause));
        assert.doesNotMatch(answered.text, /hunter2/);
        assert.deepEqual(service.faults.splice(0), [cause]);
      }
    }
  });

  it('becomes 503 with Retry-After and is reported if its code is storage_unavailable', async (t) => {
    const cause = new PlantStoreError('storage_unavailable');
    const service = await start(t, { authenticate: () => Promise.reject(cause) });
    assert.deepEqual(withRetry(await service.call('GET', '/plants')), [503, 50300, '1']);
    assert.deepEqual(service.faults, [cause]);
  });
});
