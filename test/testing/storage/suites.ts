// Registers the suite for the adapters of the tests. The suite must run in a process of its own, because it registers
// tests that are expected to fail.
import { join } from 'node:path';
import { testStorageAdapter } from '../../../src/testing.ts';
import type { StorageAdapterTestOptions, StorageLocation } from '../../../src/testing.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { brokenCommits, NeverSettles } from './broken-commits.ts';
import { brokenLists } from './broken-lists.ts';
import { brokenLogs } from './broken-logs.ts';
import { LogStorage, MapStorage, Place } from './map-storage.ts';
import type { AdapterClass } from './map-storage.ts';

type Options = StorageAdapterTestOptions<StorageLocation & { place: Place }>;

function optionsOf(Adapter: AdapterClass, shared: boolean): Options {
  return {
    createLocation: async (t) => {
      const place = new Place(join(await temporaryFolder(t), 'plants.log'));
      return { place, open: () => new Adapter(place), reopen: () => new Adapter(new Place(place.path)) };
    },
    shared,
    makeWriteFail: ({ place }, write) => (place.failing = write),
  };
}

testStorageAdapter('MapStorage', optionsOf(MapStorage, false));
testStorageAdapter('LogStorage', optionsOf(LogStorage, true));
testStorageAdapter('LogStorage without options', {
  createLocation: async (t) => {
    const place = new Place(join(await temporaryFolder(t), 'plants.log'));
    return { open: () => new LogStorage(place) };
  },
  shared: true,
});
testStorageAdapter('NeverSettles', { ...optionsOf(NeverSettles, false), timeoutMs: 1000 });
for (const [name, [Adapter]] of Object.entries({ ...brokenLists, ...brokenCommits })) {
  testStorageAdapter(name, optionsOf(Adapter, false));
}
for (const [name, [Adapter]] of Object.entries(brokenLogs)) testStorageAdapter(name, optionsOf(Adapter, true));
