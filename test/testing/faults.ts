import type { OwnedPlant, Plant, PlantPage, StorageAdapter, Write } from '../../src/index.ts';
import type { Disk, DiskStorage } from './disk-storage.ts';

/** The start of the title of a test that must fail. */
export const tests = {
  batch: 'a batch may contain',
  ids: 'ids are exact',
  users: 'users of up to',
  texts: 'names and tags',
  long: 'plants with names',
  scan: 'scan returns',
  arguments: 'a plant does not change',
  closed: 'calls after close',
  closing: 'close may be called',
  during: 'lists during a commit',
  failing: 'a commit that fails',
  crash: 'a crash during',
  shared: 'adapters at one location',
  random: 'random calls',
};

/** Returns methods that replace those of a correct adapter. */
export type Change = (real: DiskStorage, disk: Disk) => Partial<Record<keyof StorageAdapter, unknown>>;
export type Faults = Readonly<Record<string, readonly [test: string, change: Change]>>;

type Page = { -readonly [Key in keyof PlantPage]: PlantPage[Key] };

export const changesPages =
  (change: (page: Page, limit: number, after: bigint | undefined) => unknown): Change =>
  (real) => ({
    list: async (...[user, range]: Parameters<DiskStorage['list']>) =>
      change(await real.list(user, range), range.limit, range.after),
  });

export const changesPlants =
  (change: (plant: Plant) => unknown): Change =>
  (real) => ({
    list: async (...[user, range]: Parameters<DiskStorage['list']>) => {
      const { plants, hasMore } = await real.list(user, range);
      return { plants: plants.map(change), hasMore };
    },
  });

/** Stores and finds plants under another user. */
export const changesUsers =
  (change: (user: string) => string): Change =>
  (real) => ({
    commit: (writes: readonly Write[]) => real.commit(writes.map((write) => ({ ...write, user: change(write.user) }))),
    list: (...[user, range]: Parameters<DiskStorage['list']>) => real.list(change(user), range),
  });

/** Stores other names and tags. */
export const changesTexts =
  (change: (text: string) => string): Change =>
  (real) => ({
    commit: (writes: readonly Write[]) =>
      real.commit(
        writes.map((write) => {
          if (write.kind === 'delete') return write;
          const { id, name, tag } = write.plant;
          const plant = { id, name: change(name), ...(tag !== undefined && { tag: change(tag) }) };
          return { ...write, plant };
        }),
      ),
  });

export const changesScan =
  (scan: (real: DiskStorage, disk: Disk) => AsyncIterable<OwnedPlant[]>): Change =>
  (real, disk) => ({ scan: () => scan(real, disk) });

export const changesCommit =
  (commit: (writes: readonly Write[], real: DiskStorage, disk: Disk) => unknown): Change =>
  (real, disk) => ({ commit: (writes: readonly Write[]) => commit(writes, real, disk) });
