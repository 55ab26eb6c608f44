import type { ListRange, OwnedPlant, Plant, PlantPage, StorageAdapter, Write } from '../../src/index.ts';
import type { Disk, DiskStorage } from './disk-storage.ts';

/** Returns methods that replace those of a correct adapter. */
export type Change = (real: DiskStorage, disk: Disk) => Partial<Record<keyof StorageAdapter, unknown>>;
/** Faults by a part of the title of the test that must fail. */
export type Faults = Readonly<Record<string, Readonly<Record<string, Change>>>>;

export const changesPages =
  (change: (page: PlantPage, limit: number, after: bigint | undefined) => unknown): Change =>
  (real) => ({
    list: async (user: string, range: ListRange) => change(await real.list(user, range), range.limit, range.after),
  });

export const changesPlants = (change: (plant: Plant) => unknown): Change =>
  changesPages(({ plants, hasMore }) => ({ plants: plants.map(change), hasMore }));

export const changesRange =
  (change: (after: bigint | undefined, limit: number) => ListRange): Change =>
  (real) => ({ list: (user: string, { after, limit }: ListRange) => real.list(user, change(after, limit)) });

/** The commit still rejects after close. */
export const changesCommit =
  (commit: (writes: readonly Write[], real: DiskStorage, disk: Disk) => unknown): Change =>
  (real, disk) => ({
    commit: async (writes: readonly Write[]) => {
      real.refuseIfClosed();
      return commit(writes, real, disk);
    },
  });

export const changesOutcomes = (change: (outcomes: boolean[]) => unknown): Change =>
  changesCommit(async (writes, real) => change(await real.commit(writes)));

/** Changes what a commit that fails leaves. */
export const changesFailure = (change: (disk: Disk, writes: readonly Write[]) => unknown): Change =>
  changesCommit((writes, real, disk) =>
    real.commit(writes).catch((error: unknown) => {
      change(disk, writes);
      throw error;
    }),
  );

/** Stores other names and tags. */
export const changesTexts = (change: (text: string) => string): Change =>
  changesCommit((writes, real) =>
    real.commit(
      writes.map((write) => {
        if (write.kind === 'delete') return write;
        const { id, name, tag } = write.plant;
        return { ...write, plant: { id, name: change(name), ...(tag !== undefined && { tag: change(tag) }) } };
      }),
    ),
  );

/** Stores and finds plants under another user. */
export const changesUsers =
  (change: (user: string) => string): Change =>
  (real) => ({
    commit: (writes: readonly Write[]) => real.commit(writes.map((write) => ({ ...write, user: change(write.user) }))),
    list: (user: string, range: ListRange) => real.list(change(user), range),
  });

export const changesScan =
  (scan: (real: DiskStorage, disk: Disk) => AsyncIterable<OwnedPlant[]>): Change =>
  (real, disk) => ({ scan: () => scan(real, disk) });
