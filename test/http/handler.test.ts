import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { ErrorCode } from '../../src/index.ts';
import type { Authenticate } from '../../src/http.ts';
import type { Answered } from '../support/call.ts';
import { heldStorage } from '../support/held-storage.ts';
import { describeOnBothFronts, startService } from '../support/service.ts';

const fern = { body: '{"id":1,"name":"Fern"}' };

const outcome = ({ status, error }: Answered): unknown[] => [status, error];

describe('errors', () => {
  const failing = (authenticate: Authenticate): { authenticate: Authenticate } => ({ authenticate });

  it('thrown by authenticate become 500 without details, and are reported', async (t) => {
    for (const cause of [new Error('password is hunter2'), 'hunter2', undefined]) {
      const service = await startService(
        t,
        failing(() => {
          throw cause as Error;
        }),
      );
      const answered = await service.call('GET', '/plants');
      assert.deepEqual(outcome(answered), [500, 50000]);
      assert.doesNotMatch(answered.text, /hunter2/);
      assert.deepEqual(service.faults, [cause]);
    }
  });

  it('thrown by the storage become 503 with Retry-After, and are reported with their cause', async (t) => {
    const storage = new MemoryStorage();
    const cause = new Error('disk full');
    storage.commit = () => Promise.reject(cause);
    const service = await startService(t, { storage });
    const answered = await service.call('POST', '/plants', fern);
    assert.deepEqual([...outcome(answered), answered.headers.get('retry-after')], [503, 50300, '1']);
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
    assert.deepEqual([...outcome(refused), refused.headers.get('retry-after')], [503, 50300, '1']);
    release();
    assert.equal((await first).status, 200);
    await service.store.close();
    assert.equal((await service.call('GET', '/plants')).status, 503);
    assert.deepEqual(service.faults, []);
  });
});

describeOnBothFronts('PlantStoreErrors that authenticate throws', (start) => {
  const codes: ErrorCode[] = ['invalid_user', 'id_taken', 'saturated', 'closed', 'storage_unsupported'];

  for (const code of codes) {
    it(`become 500 without details and are reported if the code is ${code}`, async (t) => {
      const cause = new PlantStoreError(code, 'hunter2');
      const throwing = (): never => {
        throw cause;
      };
      for (const authenticate of [throwing, () => Promise.reject(cause)]) {
        const service = await start(t, { authenticate });
        const answered = await service.call('GET', '/plants');
        assert.deepEqual([...outcome(answered), answered.headers.get('retry-after')], [500, 50000, null]);
        assert.doesNotMatch(answered.text, /hunter2/);
        assert.deepEqual(service.faults, [cause]);
      }
    });
  }

  it('become 503 with Retry-After and are reported if the code is storage_unavailable', async (t) => {
    const cause = new PlantStoreError('storage_unavailable');
    const service = await start(t, { authenticate: () => Promise.reject(cause) });
    const answered = await service.call('GET', '/plants');
    assert.deepEqual([...outcome(answered), answered.headers.get('retry-after')], [503, 50300, '1']);
    assert.deepEqual(service.faults, [cause]);
  });
});
