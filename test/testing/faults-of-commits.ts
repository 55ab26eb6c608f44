import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { idOf } from '../../src/core/storage-adapter.ts';
import { PlantStoreError } from '../../src/index.ts';
import type { Plant, Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { changesCommit, tests } from './faults.ts';
import type { Faults } from './faults.ts';

const byId = (a: Write, b: Write): number => (idOf(a) < idOf(b) ? -1 : 1);
const copyOf = (plants: ReferenceStore): ReferenceStore => new ReferenceStore(plants.scan());

export const faultsOfCommits: Faults = {
  'sorts its argument': [tests.batch, changesCommit((writes, real) => real.commit((writes as Write[]).sort(byId)))],
  'empties its argument': [tests.batch, changesCommit((writes, real) => real.commit((writes as Write[]).splice(0)))],
  'changes plants that it is given': [
    tests.texts,
    changesCommit((writes, real) => {
      for (const write of writes) if (write.kind === 'create') (write.plant as Plant).tag ??= '';
      return real.commit(writes);
    }),
  ],
  'keeps plants that it is given': [
    tests.arguments,
    changesCommit(async (writes, real, disk) => {
      const outcomes = await real.commit(writes);
      for (const write of writes) {
        disk.plants.delete(write.user, idOf(write));
        disk.plants.apply(write);
      }
      return outcomes;
    }),
  ],
  'returns outcomes in another order': [
    tests.random,
    changesCommit((writes, real) => real.commit(writes.toSorted(byId))),
  ],
  'returns only true': [
    tests.random,
    changesCommit(async (writes, real) => (await real.commit(writes)).map(() => true)),
  ],
  'returns numbers': [tests.batch, changesCommit(async (writes, real) => (await real.commit(writes)).map(Number))],
  'returns nothing': [tests.batch, changesCommit((writes, real) => real.commit(writes).then(() => undefined))],
  'returns too few outcomes': [
    tests.batch,
    changesCommit(async (writes, real) => (await real.commit(writes)).slice(0, 999)),
  ],
  'overwrites plants': [
    tests.random,
    changesCommit((writes, real, disk) => {
      for (const write of writes) if (write.kind === 'create') disk.plants.delete(write.user, idOf(write));
      return real.commit(writes);
    }),
  ],
  'deletes the plants of all users': [
    tests.random,
    changesCommit((writes, real, disk) => {
      const deletes = writes.filter(({ kind }) => kind === 'delete');
      for (const { user } of deletes.length > 0 ? disk.plants.scan() : []) {
        for (const write of deletes) if (user !== write.user) disk.plants.delete(user, idOf(write));
      }
      return real.commit(writes);
    }),
  ],
  'requires ids that are unique among all users': [
    tests.ids,
    changesCommit(async (writes, real, disk) => {
      const taken = new Set(disk.plants.scan().map(({ plant }) => plant.id));
      const isNew = (write: Write): boolean => write.kind === 'delete' || taken.size < taken.add(idOf(write)).size;
      return real.commit(writes.filter(isNew)).then((outcomes) => writes.map((_, n) => outcomes[n] ?? false));
    }),
  ],
  'rejects an empty batch': [
    tests.random,
    changesCommit((writes, real) => (writes.length === 0 ? Promise.reject(new Error('empty')) : real.commit(writes))),
  ],
  'rejects more than 500 writes': [
    tests.batch,
    changesCommit((writes, real) => (writes.length > 500 ? Promise.reject(new Error('many')) : real.commit(writes))),
  ],
  'applies writes before a failure': [
    tests.random,
    changesCommit(async (writes, real, disk) => {
      real.refuseIfClosed();
      return disk.apply(writes);
    }),
  ],
  'restores plants after a failure': [
    tests.during,
    changesCommit(async (writes, real, disk) => {
      real.refuseIfClosed();
      const former = copyOf(disk.plants);
      try {
        const outcomes: boolean[] = [];
        for (const write of writes) {
          outcomes.push(...disk.apply([write]));
          await Promise.resolve();
        }
        return outcomes;
      } catch (error) {
        disk.plants = former;
        throw error;
      }
    }),
  ],
  'shows writes of a commit that fails later': [
    tests.failing,
    changesCommit(async (writes, real, disk) => {
      if (!writes.some((write) => disk.isFaulty(write))) return real.commit(writes);
      const former = copyOf(disk.plants);
      for (const write of writes) if (!disk.isFaulty(write)) disk.plants.apply(write);
      await setImmediate();
      disk.plants = former;
      throw new Error('The disk failed.');
    }),
  ],
  'applies a rejected batch 100 ms later': [
    tests.failing,
    changesCommit(async (writes, real, disk) => {
      return real.commit(writes).catch(async (error: unknown) => {
        void sleep(100).then(() => disk.plants.apply(writes[0] ?? assert.fail()));
        throw error;
      });
    }),
  ],
  'applies a batch and rejects': [
    tests.random,
    changesCommit(async (writes, real, disk) => {
      return real.commit(writes).catch((error: unknown) => {
        for (const write of writes) disk.plants.apply(write);
        throw error;
      });
    }),
  ],
  'hides failures': [
    tests.random,
    changesCommit(async (writes, real) => {
      real.refuseIfClosed();
      return real.commit(writes).catch(() => writes.map(() => true));
    }),
  ],
  'fails forever after a failure': [
    tests.random,
    (real) => {
      let failure: Promise<never> | undefined;
      return {
        commit: async (writes: readonly Write[]) => {
          real.refuseIfClosed();
          return failure ?? real.commit(writes).catch((error: unknown) => (failure = Promise.reject(error as Error)));
        },
      };
    },
  ],
  'returns before the writes are visible': [
    tests.batch,
    changesCommit(async (writes, real) => {
      real.refuseIfClosed();
      void sleep(5).then(() => real.commit(writes).catch(() => undefined));
      return writes.map(() => true);
    }),
  ],
  'overwrites concurrent commits': [
    tests.shared,
    changesCommit(async (writes, real, disk) => {
      real.refuseIfClosed();
      const plants = copyOf(disk.plants);
      const outcomes = writes.map((write) => plants.apply(write));
      await setImmediate();
      disk.plants = plants;
      disk.commits++;
      return outcomes;
    }),
  ],
  'drops a commit in flight when it is closed': [
    tests.closing,
    changesCommit(async (writes, real) => {
      real.refuseIfClosed();
      await setImmediate();
      return real.isClosed ? writes.map(() => true) : real.commit(writes);
    }),
  ],
  'loses half a batch in a crash': [
    tests.crash,
    changesCommit(async (writes, real, disk) => {
      if (writes.length < 1000 || writes[0]?.kind === 'create') return real.commit(writes);
      const outcomes: boolean[] = [];
      for (const write of writes) {
        outcomes.push(...disk.apply([write]));
        await setImmediate();
      }
      return outcomes;
    }),
  ],
  'throws instead of rejecting': [
    tests.closed,
    changesCommit((writes, real) => {
      real.refuseIfClosed();
      return real.commit(writes);
    }),
  ],
  'commits after close': [
    tests.closed,
    changesCommit(async (writes, real, disk) => (real.isClosed ? disk.apply(writes) : real.commit(writes))),
  ],
  'rejects with another code after close': [
    tests.closed,
    changesCommit((writes, real) =>
      real.commit(writes).catch(() => Promise.reject(new PlantStoreError('storage_unavailable'))),
    ),
  ],
  'rejects with a plain error with code closed': [
    tests.closed,
    changesCommit((writes, real) =>
      real.commit(writes).catch(() => Promise.reject(Object.assign(new Error('closed'), { code: 'closed' }))),
    ),
  ],
};
