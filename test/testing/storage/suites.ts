// Registers the suite for the adapters of the tests. The suite must run in a process of its own, because it registers
// tests that are expected to fail.
import { join } from 'node:path';
import { testStorageAdapter } from '../../../src/testing.ts';
import type { StorageAdapterTestOptions, StorageLocation } from '../../../src/testing.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { brokenCommits } from './broken-commits.ts';
import { brokenLists } from './broken-lists.ts';
import { brokenLogs } from './broken-logs.ts';
import { LogStorage, MapStorage, Place } from './map-storage.ts';
import type { AdapterClass } from './map-storage.ts';

function testAdapter(
  name: string,
  Adapter: AdapterClass,
  persistent: boolean,
  { canReopen = true, canFail = true, hasEffect = true } = {},
): void {
  const options: StorageAdapterTestOptions<StorageLocation & { place: Place }> = {
    createLocation: async (t) => {
      const place = new Place(join(await temporaryFolder(t), 'plants.log'));
      const location = { place, open: () => new Adapter(place) };
      return canReopen ? { ...location, reopen: () => new Adapter(new Place(place.path)) } : location;
    },
    persistent,
    timeoutMs: name === 'NeverSettles' ? 1000 : undefined,
    ...(canFail && { makeWriteFail: ({ place }, write) => (place.failing = hasEffect ? write : undefined) }),
  };
  testStorageAdapter(name, options);
}

testAdapter('MapStorage', MapStorage, false);
testAdapter('LogStorage', LogStorage, true);
testAdapter('LogStorage without options', LogStorage, true, { canReopen: false, canFail: false });
testAdapter('LogStorage without faults', LogStorage, true, { hasEffect: false });
for (const [name, [Adapter]] of Object.entries({ ...brokenLists, ...brokenCommits })) testAdapter(name, Adapter, false);
for (const [name, [Adapter]] of Object.entries(brokenLogs)) testAdapter(name, Adapter, true);
