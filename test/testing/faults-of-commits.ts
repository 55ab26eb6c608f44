import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { idOf } from '../../src/core/storage-adapter.ts';
import { PlantStoreError } from '../../src/index.ts';
import type { Plant, Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { changesCommit, changesFailure, changesOutcomes } from './changes.ts';
import type { Change, Faults } from './changes.ts';
import type { Disk } from './disk-storage.ts';

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

const rejectsWith =
  (error: Error): Change =>
  (real) => ({ commit: (writes: readonly Write[]) => real.commit(writes).catch(() => Promise.reject(error)) });

export const faultsOfCommits: Faults = {
  'a batch may contain': {
    'sorts its argument': changesCommit((writes, real) => real.commit((writes as Write[]).sort(byId))),
    'returns numbers': changesOutcomes((outcomes) => outcomes.map(Number)),
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
    'keeps plants that it is given': changesCommit((writes, _, disk) =>
      writes.map((write) => disk.plants.apply(write)),
    ),
  },
  'ids are exact': {
    'requires ids that are unique among all users': changesCommit(async (writes, real, disk) => {
      const taken = new Set(disk.plants.scan().map(({ plant }) => plant.id));
      const isNew = (write: Write): boolean => write.kind === 'delete' || taken.size < taken.add(idOf(write)).size;
      const outcomes = await real.commit(writes.filter(isNew));
      return writes.map((_, n) => outcomes[n] ?? false);
    }),
  },
  'random batches': {
    'returns outcomes in another order': changesCommit((writes, real) => real.commit(writes.toSorted(byId))),
    'overwrites plants': changesCommit((writes, real, disk) => {
      for (const write of writes) if (write.kind === 'create') disk.plants.delete(write.user, idOf(write));
      return real.commit(writes);
    }),
    'rejects an empty batch': changesCommit((writes, real) =>
      writes.length === 0 ? Promise.reject(new Error('empty')) : real.commit(writes),
    ),
    'applies writes before a failure': changesCommit((writes, _, disk) => disk.apply(writes)),
    'hides failures': changesCommit((writes, real) => real.commit(writes).catch(() => writes.map(() => true))),
    'fails forever after a failure': changesFailure((disk) => {
      disk.isFaulty = () => true;
    }),
  },
  'lists during a commit': {
    'shows a commit in steps': changesCommit((writes, _, disk) => applyInSteps(disk, writes, () => Promise.resolve())),
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
      return outcomes;
    }),
  },
  'close may be called': {
    'drops a commit in flight when it is closed': changesCommit(async (writes, real) => {
      await setImmediate();
      return real.isClosed() ? writes.map(() => true) : real.commit(writes);
    }),
  },
  'a crash during': {
    'loses half a batch in a crash': changesCommit((writes, _, disk) => applyInSteps(disk, writes, setImmediate)),
  },
  'calls after close': {
    'throws instead of rejecting': (real) => ({
      commit: (writes: readonly Write[]) => {
        real.refuseIfClosed();
        return real.commit(writes);
      },
    }),
    'commits after close': (_, disk) => ({ commit: async (writes: readonly Write[]) => disk.apply(writes) }),
    'rejects with another code after close': rejectsWith(new PlantStoreError('storage_unavailable')),
    'rejects with a plain error with code closed': rejectsWith(Object.assign(new Error('no'), { code: 'closed' })),
  },
};
