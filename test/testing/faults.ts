import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { cutPage } from '../../src/core/page.ts';
import type { ListRange, Plant, PlantPage, StorageAdapter, Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/plants.ts';
import type { Disk, DiskStorage } from './disk-storage.ts';

/** Returns methods that replace those of a correct adapter. */
export type Change = (real: DiskStorage, disk: Disk) => Partial<Record<keyof StorageAdapter, unknown>>;

const changesPages =
  (change: (page: PlantPage, limit: number) => unknown): Change =>
  (real) => ({ list: async (user: string, range: ListRange) => change(await real.list(user, range), range.limit) });

/** The commit still rejects after close. */
const changesCommit =
  (commit: (writes: readonly Write[], real: DiskStorage, disk: Disk) => unknown): Change =>
  (real, disk) => ({
    commit: async (writes: readonly Write[]) => {
      real.refuseIfClosed();
      return commit(writes, real, disk);
    },
  });

const changesNames = (change: (name: string) => string): Change =>
  changesPages(({ plants, hasMore }) => ({
    plants: plants.map((each) => ({ ...each, name: change(each.name) })),
    hasMore,
  }));

/** Lists all plants of a user without regard to the size of a page. */
const readsRows = (max: number): Change => {
  return (_, disk) => ({
    list: async (user: string, { after, limit }: ListRange) => {
      const rows = structuredClone(disk.plants.list(user, after).slice(0, Math.min(max, limit + 1)));
      return { plants: rows.slice(0, limit), hasMore: rows.length > limit };
    },
  });
};

async function applyInSteps(disk: Disk, writes: readonly Write[]): Promise<boolean[]> {
  const outcomes: boolean[] = [];
  for (const write of writes) {
    outcomes.push(...disk.apply([write]));
    await setImmediate();
  }
  return outcomes;
}

const byText = (a: Plant, b: Plant): number => (String(a.id) < String(b.id) ? -1 : 1);
const never = (): Promise<never> => new Promise(() => undefined);
const rejectsCommits = async (): Promise<never> => Promise.reject(new Error('no'));

/** Faults by a part of the title of the test that must fail. Each test of the suite has a fault that it alone sees. */
export const faults: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  'a batch may contain 1 MiB': {
    'rejects batches of 300,000 characters': changesCommit((writes, real) => {
      const texts = writes.map((write) => (write.kind === 'create' ? write.plant.name : ''));
      return texts.join('').length > 300_000 ? rejectsCommits() : real.commit(writes);
    }),
  },
  '2500 plants': { 'reads at most 1000 rows': readsRows(1000) },
  '2 and 20 MB': { 'cuts names after 16 MiB': changesNames((name) => name.slice(0, 2 ** 24)) },
  'ids are exact': {
    'sorts ids as text': changesPages(({ plants, hasMore }) => ({ plants: plants.toSorted(byText), hasMore })),
    'never commits': () => ({ commit: never }),
    'never lists': () => ({ list: never }),
    'never scans': () => ({ scan: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) }),
    'never closes': () => ({ close: never }),
  },
  'users of up to': {
    'ignores case in users': (real) => ({
      commit: (writes: readonly Write[]) =>
        real.commit(writes.map((write) => ({ ...write, user: write.user.toLowerCase() }))),
      list: (user: string, range: ListRange) => real.list(user.toLowerCase(), range),
    }),
  },
  'names and tags': { 'trims names': changesNames((name) => name.trim()) },
  'more than 256 KiB': { 'has pages without an end': readsRows(Infinity) },
  'random batches': {
    'guesses hasMore': changesPages(({ plants }, limit) => ({ plants, hasMore: plants.length === limit })),
    'returns the objects that it stores': (_, disk) => ({
      list: async (user: string, { after, limit }: ListRange) => cutPage(disk.plants.list(user, after), limit),
    }),
    'keeps the plants that it is given': changesCommit((writes, _, disk) =>
      writes.map((write) => disk.plants.apply(write)),
    ),
    'changes its argument': changesCommit((writes, real) => real.commit((writes as Write[]).reverse())),
    'throws instead of listing': () => ({
      list: () => {
        throw new Error('not async');
      },
    }),
    'returns outcomes in another order': changesCommit((writes, real) => real.commit(writes.toReversed())),
    'applies writes before a failure': changesCommit((writes, _, disk) => disk.apply(writes)),
    'hides failures': changesCommit((writes, real) => real.commit(writes).catch(() => writes.map(() => true))),
    'throws instead of returning a version': () => ({
      dataVersion: () => {
        throw new Error('no version');
      },
    }),
  },
  'dataVersion never recurs': {
    'has a version of one byte': (_, disk) => ({ dataVersion: () => disk.commits % 256 }),
  },
  'a damaged plant': {
    'skips damaged plants': (real, disk) => ({
      list: (user: string, range: ListRange) => {
        if (disk.damaged !== undefined) disk.plants.apply({ kind: 'delete', user, id: disk.damaged });
        disk.damaged = undefined;
        return real.list(user, range);
      },
    }),
  },
  'lists during a commit': {
    'shows a commit in steps': changesCommit((writes, _, disk) => applyInSteps(disk, writes)),
    'has a version that changes before the commit is visible': changesCommit(async (writes, _, disk) => {
      disk.commits++;
      await setImmediate();
      return disk.apply(writes);
    }),
  },
  'a commit that fails': {
    'applies a rejected batch 100 ms later': changesCommit((writes, real, disk) =>
      real.commit(writes).catch((error: unknown) => {
        void sleep(100).then(() => writes[0] && disk.plants.apply(writes[0]));
        throw error;
      }),
    ),
  },
  'a crash during': { 'loses half a batch in a crash': changesCommit((writes, _, disk) => applyInSteps(disk, writes)) },
  'adapters at one location': {
    'overwrites concurrent commits': changesCommit(async (writes, _, disk) => {
      const plants = new ReferenceStore(disk.plants.scan());
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
  'calls after close': {
    'throws instead of rejecting': (real) => ({
      commit: (writes: readonly Write[]) => {
        real.refuseIfClosed();
        return real.commit(writes);
      },
    }),
    'returns nothing after close': (real) => ({
      scan: async function* () {
        if (!real.isClosed()) yield* real.scan();
      },
    }),
  },
  'scan returns': {
    'repeats its pages forever': (real) => ({
      scan: async function* () {
        for (;;) yield* real.scan();
      },
    }),
    'returns empty pages forever': () => ({
      scan: async function* () {
        for (;;) yield [];
      },
    }),
    'pages by offset': (_, disk) => ({
      scan: async function* () {
        for (let offset = 0; offset < disk.plants.scan().length; offset += 1000) {
          yield structuredClone(disk.plants.scan().slice(offset, offset + 1000));
        }
      },
    }),
  },
  'scans may end early': {
    'cannot commit after ten scans that ended early': (real) => {
      let isScanning = 0;
      return {
        commit: (writes: readonly Write[]) => (isScanning > 9 ? rejectsCommits() : real.commit(writes)),
        scan: async function* () {
          isScanning++;
          yield* real.scan();
          isScanning--;
        },
      };
    },
  },
};
