// Registers the suite for the adapters of the tests. The suite must run in a process of its own, because it registers
// tests that are expected to fail.
import type { StorageAdapter } from '../../src/index.ts';
import { testStorageAdapter } from '../../src/testing.ts';
import type { StorageAdapterTestOptions, StorageLocation } from '../../src/testing.ts';
import { Disk, DiskStorage } from './disk-storage.ts';
import { faultsOfCommits } from './faults-of-commits.ts';
import { faultsOfLifecycles, faultsOfVersions, faultsThatHang } from './faults-of-lifecycles.ts';
import { faultsOfLists, faultsOfScans } from './faults-of-reads.ts';
import type { Change } from './faults.ts';

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

testStorageAdapter(
  'DiskStorage',
  optionsOf(() => ({})),
);
testStorageAdapter('DiskStorage that is not shared', {
  createLocation: () => ({ open: () => new DiskStorage(new Disk()) }),
  shared: false,
});
testStorageAdapter('DiskStorage without options', {
  createLocation: () => {
    const disk = new Disk();
    return { open: () => new DiskStorage(disk) };
  },
  shared: true,
});
testStorageAdapter('shares plants', { ...optionsOf(() => ({})), shared: false });
testStorageAdapter('does not share plants', {
  createLocation: () => ({ open: () => new DiskStorage(new Disk()) }),
  shared: true,
});
const faults = { ...faultsOfCommits, ...faultsOfLists, ...faultsOfScans, ...faultsOfVersions, ...faultsOfLifecycles };
for (const [name, [, change]] of Object.entries(faults)) testStorageAdapter(name, optionsOf(change));
for (const [name, [, change]] of Object.entries(faultsThatHang)) {
  testStorageAdapter(name, { ...optionsOf(change), timeoutMs: 200 });
}
