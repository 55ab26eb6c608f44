import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { Call } from '../support/call.ts';
import { describedAnswers, nameAnswer } from '../support/described.ts';
import { authenticateByName, startService } from '../support/service.ts';

const requests: [method: string, target: string, call?: Call][] = [
  ['GET', '/plants'],
  ['POST', '/plants', { body: '{"id":1,"name":"Fern"}' }],
  ['DELETE', '/plants/1'],
];

describe('the OpenAPI document', () => {
  it('describes exactly the errors that the service sends if something other than the request is wrong', async (t) => {
    const storage = new MemoryStorage();
    const store = new PlantStore({ storage, maxCacheBytes: 0 });
    const service = await startService(t, {
      store,
      authenticate: (token) => {
        if (token === 'fault') throw new Error('the user directory does not respond');
        return authenticateByName(token);
      },
    });
    const answers = new Set<string>();
    const sendAll = async (token?: string): Promise<void> => {
      for (const [method, target, call] of requests) {
        // service.call asserts that the document describes the response.
        const answered = await service.call(method, target, { ...call, ...(token !== undefined && { token }) });
        answers.add(nameAnswer(method, target, answered));
      }
    };
    await sendAll('fault');
    for (const code of ['storage_unsupported', 'storage_unavailable', 'saturated'] as const) {
      storage.commit = () => Promise.reject(new PlantStoreError(code));
      storage.list = () => Promise.reject(new PlantStoreError(code));
      await sendAll();
    }
    await store.close();
    service.faults.length = 0;
    await sendAll();
    assert.deepEqual(service.faults, [], 'a closed store is not reported');
    const described = describedAnswers().filter((answer) => / 50\d /.test(answer));
    assert.deepEqual([...answers].sort(), described.sort());
  });
});
