import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { cutPage } from '../../src/core/page.ts';
import type { ListRange, Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { changesCommit, changesFailure } from './changes.ts';
import type { Change, Faults } from './changes.ts';
import type { Disk } from './disk-storage.ts';

const hasVersion =
  (versionOf: (disk: Disk) => unknown): Change =>
  (_, disk) => ({ dataVersion: () => versionOf(disk) });

const startedAt = Date.now();

export const faultsOfVersions: Faults = {
  'random calls': {
    'has a constant version': hasVersion(() => 0),
    'has the number of plants as its version': hasVersion((disk) => disk.plants.scan().length),
    'has a version that recurs after 8 commits': hasVersion((disk) => disk.commits % 8),
    'has the time in seconds as its version': hasVersion(() => Math.floor((Date.now() - startedAt) / 1000)),
    'has a version that is not a number': hasVersion(() => NaN),
    'has a promise as its version': hasVersion((disk) => Promise.resolve(disk.commits)),
    'has a version that recurs after an own failed commit': (real, disk) => {
      let own = 0;
      const commit = (writes: readonly Write[]): Promise<boolean[]> => (own++, real.commit(writes));
      return { commit, dataVersion: () => disk.commits - own };
    },
    'has a version that recurs after a failed commit of another': changesFailure((disk) => disk.commits--),
    'has a version that only one user changes': changesCommit(async (writes, real, disk) => {
      const outcomes = await real.commit(writes);
      if (!writes.some(({ user }) => user === 'ada')) disk.commits--;
      return outcomes;
    }),
    'has a version that changes 5 ms after the commit': changesCommit(async (writes, real, disk) => {
      const outcomes = await real.commit(writes);
      disk.commits--;
      void sleep(5).then(() => disk.commits++);
      return outcomes;
    }),
  },
  'lists during a commit': {
    'has a version that changes before the commit is visible': changesCommit(async (writes, _, disk) => {
      disk.commits++;
      await setImmediate();
      return disk.apply(writes);
    }),
  },
};

export const faultsOfLifecycles: Faults = {
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
    'deletes all plants when it is opened': (_, disk) => {
      disk.plants = new ReferenceStore();
      return {};
    },
    'lists an own cache': (real, disk) => {
      const own = new ReferenceStore(disk.plants.scan());
      return {
        list: async (user: string, { after, limit }: ListRange) => {
          real.refuseIfClosed();
          return structuredClone(cutPage(own.list(user, { after }), limit));
        },
        commit: async (writes: readonly Write[]) => {
          const outcomes = await real.commit(writes);
          for (const write of writes) own.apply(structuredClone(write));
          return outcomes;
        },
      };
    },
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
  'random calls': {
    'never rejects': changesCommit((writes, real, disk) =>
      writes.some((write) => disk.isFaulty(write)) ? never() : real.commit(writes),
    ),
  },
  'scan returns': {
    'blocks commits until it ends': (real) => {
      let scanning: Promise<unknown> = Promise.resolve();
      return {
        commit: (writes: readonly Write[]) => scanning.then(() => real.commit(writes)),
        scan: async function* () {
          const { promise, resolve } = Promise.withResolvers<unknown>();
          scanning = promise;
          yield* real.scan();
          resolve(undefined);
        },
      };
    },
  },
};
