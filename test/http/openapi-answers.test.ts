import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorTable, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { Answered } from '../support/call.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { startService } from '../support/service.ts';

it('the OpenAPI document describes the errors of a storage and of a closed store', async (t) => {
  const storage = new HookedStorage();
  const store = new PlantStore({ storage, maxCacheBytes: 0 });
  const service = await startService(t, { store });
  // service.call asserts that the document describes the response.
  const callAll = async (): Promise<Answered[]> => [
    await service.call('GET', '/plants'),
    await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' }),
    await service.call('DELETE', '/plants/1'),
  ];
  for (const code of ['storage_unsupported', 'storage_unavailable', 'saturated'] as const) {
    storage.beforeCommit = storage.beforeList = () => {
      throw new PlantStoreError(code);
    };
    for (const { error } of await callAll()) assert.equal(error, errorTable[code].integer);
  }
  await store.close();
  service.faults.length = 0;
  for (const { error } of await callAll()) assert.equal(error, errorTable.closed.integer);
  assert.deepEqual(service.faults, [], 'a closed store is not reported');
});
