import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { idOf } from '../../src/core/storage-adapter.ts';
import { PlantStoreError } from '../../src/index.ts';
import type { Plant, Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { changesCommit, changesFailure, changesOutcomes } from './changes.ts';
import type { Faults } from './changes.ts';
import type { Disk, DiskStorage } from './disk-storage.ts';

const byId = (a: Write, b: Write): number => (idOf(a) < idOf(b) ? -1 : 1);
const copyOf = (plants: ReferenceStore): ReferenceStore => new ReferenceStore(plants.scan());

async function applyInSteps(disk: Disk, writes: readonly Write[], pause: () => Promise<unknown>): Promise<boolean[]> {
  const outcomes: boolean[] = [];
  for (const write of writes) {
    outcomes.push(...disk.apply([write]));
    await pause();
  }
  return outcomes;
}

const rejectsClosed = (error: Error) => (real: DiskStorage) => ({
  commit: (writes: readonly Write[]) => real.commit(writes).catch(() => Promise.reject(error)),
});

export const faultsOfCommits: Faults = {
  'a batch may contain': {
    'sorts its argument': changesCommit((writes, real) => real.commit((writes as Write[]).sort(byId))),
    'empties its argument': changesCommit((writes, real) => real.commit((writes as Write[]).splice(0))),
    'returns numbers': changesOutcomes((outcomes) => outcomes.map(Number)),
    'returns nothing': changesOutcomes(() => undefined),
    'returns too few outcomes': changesOutcomes((outcomes) => outcomes.slice(0, 999)),
    'rejects more than 500 writes': changesCommit((writes, real) =>
      writes.length > 500 ? Promise.reject(new Error('many')) : real.commit(writes),
    ),
    'returns before the writes are visible': changesCommit((writes, real) => {
      void sleep(5).then(() => real.commit(writes).catch(() => undefined));
      return writes.map(() => true);
    }),
  },
  'names and tags': {
    'changes plants that it is given': changesCommit((writes, real) => {
      for (const write of writes) if (write.kind === 'create') (write.plant as Plant).tag ??= '';
      return real.commit(writes);
    }),
  },
  'a plant does not change': {
    'keeps plants that it is given': changesCommit(async (writes, real, disk) => {
      const outcomes = await real.commit(writes);
      for (const write of writes) {
        disk.plants.delete(write.user, idOf(write));
        disk.plants.apply(write);
      }
      return outcomes;
    }),
  },
  'ids are exact': {
    'requires ids that are unique among all users': changesCommit(async (writes, real, disk) => {
      const taken = new Set(disk.plants.scan().map(({ plant }) => plant.id));
      const isNew = (write: Write): boolean => write.kind === 'delete' || taken.size < taken.add(idOf(write)).size;
      const outcomes = await real.commit(writes.filter(isNew));
      return writes.map((_, n) => outcomes[n] ?? false);
    }),
  },
  'random calls': {
    'returns outcomes in another order': changesCommit((writes, real) => real.commit(writes.toSorted(byId))),
    'returns only true': changesOutcomes((outcomes) => outcomes.map(() => true)),
    'overwrites plants': changesCommit((writes, real, disk) => {
      for (const write of writes) if (write.kind === 'create') disk.plants.delete(write.user, idOf(write));
      return real.commit(writes);
    }),
    'deletes the plants of all users': changesCommit((writes, real, disk) => {
      for (const write of writes.filter(({ kind }) => kind === 'delete')) {
        for (const { user } of disk.plants.scan()) if (user !== write.user) disk.plants.delete(user, idOf(write));
      }
      return real.commit(writes);
    }),
    'rejects an empty batch': changesCommit((writes, real) =>
      writes.length === 0 ? Promise.reject(new Error('empty')) : real.commit(writes),
    ),
    'applies writes before a failure': changesCommit((writes, _, disk) => disk.apply(writes)),
    'applies a batch and rejects': changesFailure((disk, writes) => writes.map((write) => disk.plants.apply(write))),
    'hides failures': changesCommit((writes, real) => real.commit(writes).catch(() => writes.map(() => true))),
    'fails forever after a failure': (real, disk) => {
      let failure: Promise<never> | undefined;
      return changesCommit(
        (writes) =>
          failure ?? real.commit(writes).catch((error: unknown) => (failure = Promise.reject(error as Error))),
      )(real, disk);
    },
  },
  'lists during a commit': {
    'restores plants after a failure': changesCommit((writes, _, disk) => {
      const former = copyOf(disk.plants);
      return applyInSteps(disk, writes, () => Promise.resolve()).catch((error: unknown) => {
        disk.plants = former;
        throw error;
      });
    }),
  },
  'a commit that fails': {
    'shows writes of a commit that fails later': changesCommit(async (writes, real, disk) => {
      if (!writes.some((write) => disk.isFaulty(write))) return real.commit(writes);
      const former = copyOf(disk.plants);
      disk.apply(writes.filter((write) => !disk.isFaulty(write)));
      await setImmediate();
      disk.plants = former;
      throw new Error('The disk failed.');
    }),
    'applies a rejected batch 100 ms later': changesFailure(
      (disk, writes) => void sleep(100).then(() => disk.plants.apply(writes[0] ?? assert.fail())),
    ),
  },
  'adapters at one location': {
    'overwrites concurrent commits': changesCommit(async (writes, _, disk) => {
      const plants = copyOf(disk.plants);
      const outcomes = writes.map((write) => plants.apply(write));
      await setImmediate();
      disk.plants = plants;
      disk.commits++;
      return outcomes;
    }),
  },
  'close may be called': {
    'drops a commit in flight when it is closed': changesCommit(async (writes, real) => {
      await setImmediate();
      return real.isClosed ? writes.map(() => true) : real.commit(writes);
    }),
  },
  'a crash during': {
    'loses half a batch in a crash': changesCommit((writes, real, disk) =>
      writes.length < 1000 || writes[0]?.kind === 'create'
        ? real.commit(writes)
        : applyInSteps(disk, writes, () => setImmediate()),
    ),
  },
  'calls after close': {
    'throws instead of rejecting': (real) => ({
      commit: (writes: readonly Write[]) => {
        real.refuseIfClosed();
        return real.commit(writes);
      },
    }),
    'commits after close': (_, disk) => ({ commit: async (writes: readonly Write[]) => disk.apply(writes) }),
    'rejects with another code after close': rejectsClosed(new PlantStoreError('storage_unavailable')),
    'rejects with a plain error with code closed': rejectsClosed(Object.assign(new Error('no'), { code: 'closed' })),
  },
};
