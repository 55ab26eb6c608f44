import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { changesCommit } from './changes.ts';
import type { Change, Faults } from './changes.ts';
import type { Disk } from './disk-storage.ts';

const hasVersion =
  (versionOf: (disk: Disk) => unknown): Change =>
  (_, disk) => ({ dataVersion: () => versionOf(disk) });

export const faultsOfVersions: Faults = {
  'random batches': {
    'has a constant version': hasVersion(() => 0),
    'has the number of plants as its version': hasVersion((disk) => disk.plants.scan().length),
    'has a promise as its version': hasVersion((disk) => Promise.resolve(disk.commits)),
    'has a version that changes 5 ms after the commit': changesCommit(async (writes, real, disk) => {
      const outcomes = await real.commit(writes);
      disk.commits--;
      void sleep(5).then(() => disk.commits++);
      return outcomes;
    }),
    'has a version that recurs after five commits': hasVersion((disk) => disk.commits % 5),
  },
  'lists during a commit': {
    'has a version that changes before the commit is visible': changesCommit(async (writes, _, disk) => {
      disk.commits++;
      await setImmediate();
      return disk.apply(writes);
    }),
  },
};

export const faultsOfClosing: Faults = {
  'calls after close': {
    'closes once': (real) => ({
      close: async () => {
        real.refuseIfClosed();
        await real.close();
      },
    }),
  },
  'adapters at one location': {
    'closes the other adapters': (_, disk) => ({
      close: () => Promise.all([...disk.open].map((each) => each.close())),
    }),
    'deletes all plants when it is closed': (real, disk) => ({
      close: async () => {
        await real.close();
        disk.plants = new ReferenceStore();
      },
    }),
  },
};

const never = (): Promise<never> => new Promise(() => undefined);

export const faultsThatHang: Faults = {
  'a batch may contain': {
    'never commits': () => ({ commit: never }),
    'never lists': () => ({ list: never }),
    'never scans': () => ({ scan: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) }),
    'never closes': () => ({ close: never }),
  },
};
