import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import type { Disk, DiskStorage } from './disk-storage.ts';
import { changesCommit, tests } from './faults.ts';
import type { Change, Faults } from './faults.ts';

const hasVersion =
  (versionOf: (disk: Disk, real: DiskStorage) => unknown): Change =>
  (real, disk) => ({ dataVersion: () => versionOf(disk, real) });

/** Increments a counter of its own at commits. The version is computed from it. */
const countsOwnCommits =
  (versionOf: (own: { tried: number; failed: number }, disk: Disk) => number): Change =>
  (real, disk) => {
    const own = { tried: 0, failed: 0 };
    return {
      dataVersion: () => versionOf(own, disk),
      commit: async (writes: readonly Write[]) => {
        own.tried++;
        return real.commit(writes).catch((error: unknown) => {
          own.failed++;
          throw error;
        });
      },
    };
  };

const startedAt = Date.now();

export const faultsOfVersions: Faults = {
  'has a constant version': [tests.random, hasVersion(() => 0)],
  'has the number of plants as its version': [tests.random, hasVersion((disk) => disk.plants.scan().length)],
  'has a version that recurs after 8 commits': [tests.random, hasVersion((disk) => disk.commits % 8)],
  'has the time in seconds as its version': [
    tests.random,
    hasVersion(() => Math.floor((Date.now() - startedAt) / 1000)),
  ],
  'has a version that is not a number': [tests.random, hasVersion(() => NaN)],
  'has a promise as its version': [tests.random, hasVersion((disk) => Promise.resolve(disk.commits))],
  'has a version that recurs after an own failed commit': [
    tests.random,
    countsOwnCommits(({ tried }, disk) => disk.commits - tried),
  ],
  'has a version that recurs after a failed commit of another': [
    tests.random,
    changesCommit((writes, real, disk) =>
      real.commit(writes).catch((error: unknown) => {
        disk.commits--;
        throw error;
      }),
    ),
  ],
  'has a version that only one user changes': [
    tests.random,
    (real, disk) => {
      let version = 0;
      const count = async (writes: readonly Write[]) => {
        const outcomes = await real.commit(writes);
        if (!writes.some(({ user }) => user === 'ada')) disk.commits--;
        return outcomes;
      };
      version++;
      return { commit: count, dataVersion: () => disk.commits + version };
    },
  ],
  'has a version that changes before the commit is visible': [
    tests.during,
    changesCommit(async (writes, real, disk) => {
      real.refuseIfClosed();
      disk.commits++;
      await setImmediate();
      return disk.apply(writes);
    }),
  ],
  'has a version that changes 5 ms after the commit': [
    tests.random,
    changesCommit(async (writes, real, disk) => {
      const { commits } = disk;
      const outcomes = await real.commit(writes);
      disk.commits = commits;
      void sleep(5).then(() => disk.commits++);
      return outcomes;
    }),
  ],
};

export const faultsOfLifecycles: Faults = {
  'closes once': [
    tests.closed,
    (real) => ({
      close: async () => {
        real.refuseIfClosed();
        await real.close();
      },
    }),
  ],
  'closes the other adapters': [
    tests.shared,
    (_, disk) => ({ close: async () => Promise.all([...disk.open].map((each) => each.close())) }),
  ],
  'deletes all plants when it is closed': [
    tests.shared,
    (real, disk) => ({
      close: async () => {
        await real.close();
        disk.plants = new ReferenceStore();
      },
    }),
  ],
  'deletes all plants when it is opened': [
    tests.shared,
    (_, disk) => {
      disk.plants = new ReferenceStore();
      return {};
    },
  ],
  'lists an own cache': [
    tests.shared,
    (real, disk) => {
      const own = new ReferenceStore(disk.plants.scan());
      const list = async (user: string, { after, limit }: Parameters<DiskStorage['list']>[1]) => {
        real.refuseIfClosed();
        const plants = structuredClone(own.list(user, { after }));
        return { plants: plants.slice(0, limit), hasMore: plants.length > limit };
      };
      const commit = async (writes: readonly Write[]) => {
        const outcomes = await real.commit(writes);
        for (const write of writes) own.apply(structuredClone(write));
        return outcomes;
      };
      return { list, commit };
    },
  ],
};

const never = (): Promise<never> => new Promise(() => undefined);

/** These tests need a short deadline. */
export const faultsThatHang: Faults = {
  'never commits': [tests.batch, () => ({ commit: never })],
  'never lists': [tests.batch, () => ({ list: never })],
  'never scans': [tests.batch, () => ({ scan: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) })],
  'never closes': [tests.batch, () => ({ close: never })],
  'never rejects': [
    tests.random,
    changesCommit((writes, real, disk) =>
      writes.some((write) => disk.isFaulty(write)) ? never() : real.commit(writes),
    ),
  ],
  'blocks commits until it ends': [
    tests.scan,
    (real) => {
      let scanning = Promise.resolve();
      return {
        commit: async (writes: Parameters<typeof real.commit>[0]) => {
          await scanning;
          return real.commit(writes);
        },
        scan: async function* () {
          const { promise, resolve } = Promise.withResolvers<undefined>();
          scanning = promise.then(() => undefined);
          yield* real.scan();
          resolve(undefined);
        },
      };
    },
  ],
};
