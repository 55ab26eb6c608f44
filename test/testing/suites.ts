// Registers the suite for the adapters of the tests. The suite must run in a process of its own, because it registers
// tests that are expected to fail.
import type { StorageAdapter } from '../../src/index.ts';
import { testStorageAdapter } from '../../src/testing.ts';
import type { StorageAdapterTestOptions, StorageLocation } from '../../src/testing.ts';
import type { Change } from './changes.ts';
import { Disk, DiskStorage } from './disk-storage.ts';
import { faults, hangingFaults } from './faults.ts';

type Options = StorageAdapterTestOptions<StorageLocation & { disk: Disk }>;

function optionsOf(change: Change): Options {
  return {
    createLocation: () => {
      const disk = new Disk();
      const open = (): StorageAdapter => {
        const real = new DiskStorage(disk);
        const correct = {
          commit: real.commit.bind(real),
          list: real.list.bind(real),
          scan: real.scan.bind(real),
          dataVersion: real.dataVersion.bind(real),
          close: real.close.bind(real),
        };
        return { ...correct, ...(change(real, disk) as Partial<StorageAdapter>) };
      };
      return { disk, open, reopen: open };
    },
    shared: true,
    makeWriteFail: ({ disk }, write) => (disk.failing = write),
  };
}

const correct = optionsOf(() => ({}));
const createSharedLocation = (): StorageLocation => {
  const disk = new Disk();
  return { open: () => new DiskStorage(disk) };
};
const createLocation = (): StorageLocation => ({ open: () => new DiskStorage(new Disk()) });
testStorageAdapter('DiskStorage', correct);
testStorageAdapter('DiskStorage that is not shared', { createLocation, shared: false });
testStorageAdapter('DiskStorage without options', { createLocation: createSharedLocation, shared: true });
testStorageAdapter('shares plants', { ...correct, shared: false });
testStorageAdapter('does not share plants', { createLocation, shared: true });
for (const { name, change } of faults) testStorageAdapter(name, optionsOf(change));
for (const { name, change } of hangingFaults) testStorageAdapter(name, { ...optionsOf(change), timeoutMs: 200 });
