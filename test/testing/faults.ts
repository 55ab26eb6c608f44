import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { cutPage, scanPages } from '../../src/core/page.ts';
import { idOf } from '../../src/core/storage-adapter.ts';
import { PlantStoreError } from '../../src/index.ts';
import type { Plant, PlantPage, StorageAdapter, Write } from '../../src/index.ts';
import type { FaultyWrite } from '../../src/testing.ts';
import { ReferenceStore } from '../../src/testing/plants.ts';

/** What adapters at the same location share. */
export class Disk {
  plants = new ReferenceStore();
  commits = 0;
  failing: FaultyWrite | undefined;
  /** The id of the plant that cannot be read. */
  damaged: bigint | undefined;
  readonly open = new Set<StorageAdapter>();

  isFaulty(write: Write): boolean {
    const { kind, user, id } = this.failing ?? {};
    return write.kind === kind && write.user === user && idOf(write) === id;
  }

  /** Applies the writes one by one. Throws an error when it reaches the faulty write. */
  apply(writes: readonly Write[]): boolean[] {
    return writes.map((write) => {
      if (this.isFaulty(write)) throw new Error('The disk failed.');
      return this.plants.apply(structuredClone(write));
    });
  }
}

/** A correct adapter, which also has methods that the adapters with a fault use. */
export type DiskStorage = Required<StorageAdapter> & { isClosed(): boolean; refuseIfClosed(): void };

/** Opens an adapter whose methods do not use `this`, so that they can be replaced one by one. */
export function openDisk(disk: Disk): DiskStorage {
  const isClosed = (): boolean => !disk.open.has(storage);
  const refuseIfClosed = (): void => {
    if (isClosed()) throw new PlantStoreError('closed');
  };
  const refuseIfDamaged = (): void => {
    if (disk.damaged !== undefined) throw new PlantStoreError('storage_unsupported');
  };
  const storage: DiskStorage = {
    isClosed,
    refuseIfClosed,
    commit: async (writes) => {
      refuseIfClosed();
      if (writes.some((write) => disk.isFaulty(write))) throw new Error('The disk failed.');
      disk.commits++;
      return disk.apply(writes);
    },
    list: async (user, { after, limit }) => {
      refuseIfClosed();
      refuseIfDamaged();
      return structuredClone(cutPage(disk.plants.list(user, after), limit));
    },
    scan: () =>
      scanPages((user, after) => {
        refuseIfClosed();
        refuseIfDamaged();
        const rest = disk.plants
          .scan()
          .filter((each) => each.user > user || (each.user === user && each.plant.id > after));
        return rest.map((owned) => ({ user: owned.user, plant: { ...owned.plant } }));
      }),
    dataVersion: () => disk.commits,
    close: async () => void disk.open.delete(storage),
  };
  disk.open.add(storage);
  return storage;
}

/** Methods that replace those of a correct adapter. */
type Changes = Partial<StorageAdapter>;

/** Faults, by a part of the title of the test that must fail. */
export function faultsOf(real: DiskStorage, disk: Disk): Record<string, Record<string, Changes>> {
  /** Commits in another way, but still rejects after close. */
  const commits = (commit: (writes: readonly Write[]) => unknown): Changes => ({
    commit: async (writes) => {
      real.refuseIfClosed();
      return (await commit(writes)) as boolean[];
    },
  });
  const listsPages = (change: (page: PlantPage, limit: number) => PlantPage): Changes => ({
    list: async (user, range) => change(await real.list(user, range), range.limit),
  });
  const listsNames = (change: (name: string) => string): Changes =>
    listsPages((page) => ({ ...page, plants: page.plants.map((each) => ({ ...each, name: change(each.name) })) }));
  /** Reads at most `max` plants, without regard to the size of a page. */
  const listsRows = (max: number): Changes => ({
    list: async (user, { after, limit }) => {
      const rows = structuredClone(disk.plants.list(user, after).slice(0, Math.min(max, limit + 1)));
      return { plants: rows.slice(0, limit), hasMore: rows.length > limit };
    },
  });
  const commitsInSteps = commits(async (writes) => {
    const outcomes: boolean[] = [];
    for (const write of writes) {
      outcomes.push(...disk.apply([write]));
      await setImmediate();
    }
    return outcomes;
  });
  const byText = (a: Plant, b: Plant): number => (String(a.id) < String(b.id) ? -1 : 1);
  const never = (): Promise<never> => new Promise(() => undefined);
  const fail = (): never => {
    throw new Error('no');
  };
  const isReopened = disk.plants.scan().length > 0;
  const keyOf = (write: Write) => ({ user: write.user, id: idOf(write) });
  let openScans = 0;
  let isListing = false;

  return {
    'a batch may contain 1 MiB': {
      'rejects batches of 300,000 characters': commits((writes) => {
        const texts = writes.map((write) => (write.kind === 'create' ? write.plant.name : ''));
        return texts.join('').length > 300_000 ? fail() : real.commit(writes);
      }),
    },
    '2500 plants': { 'reads at most 1000 rows': listsRows(1000) },
    '2 and 20 MB': { 'cuts names after 16 MiB': listsNames((name) => name.slice(0, 2 ** 24)) },
    'ids are exact': {
      'sorts ids as text': listsPages((page) => ({ ...page, plants: page.plants.toSorted(byText) })),
      'never commits': { commit: never },
      'never lists': { list: never },
      'never scans': { scan: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) },
      'never closes': { close: never },
    },
    'users of up to': {
      'ignores case in users': {
        commit: (writes) => real.commit(writes.map((write) => ({ ...write, user: write.user.toLowerCase() }))),
        list: (user, range) => real.list(user.toLowerCase(), range),
      },
    },
    'names and tags': { 'trims names': listsNames((name) => name.trim()) },
    'more than 256 KiB': { 'returns pages of any length': listsRows(Infinity) },
    'random batches': {
      'overwrites plants after it was reopened': commits((writes) => {
        if (isReopened) for (const { user, id } of writes.map(keyOf)) disk.plants.apply({ kind: 'delete', user, id });
        return real.commit(writes);
      }),
      'guesses hasMore': listsPages(({ plants }, limit) => ({ plants, hasMore: plants.length === limit })),
      'returns the objects that it stores': {
        list: async (user, { after, limit }) => cutPage(disk.plants.list(user, after), limit),
      },
      'stores the objects that it receives': commits((writes) => writes.map((write) => disk.plants.apply(write))),
      'changes its argument': commits((writes) => real.commit((writes as Write[]).reverse())),
      'throws instead of listing': { list: fail },
      'returns outcomes in another order': commits((writes) => real.commit(writes.toReversed())),
      'applies writes before a failure': commits((writes) => disk.apply(writes)),
      'hides failures': commits((writes) => real.commit(writes).catch(() => writes.map(() => true))),
      'freezes plants': listsPages((page) => ({ ...page, plants: page.plants.map((each) => Object.freeze(each)) })),
      'returns pages without a promise': {
        list: (user, { after, limit }) => cutPage(disk.plants.list(user, after), limit) as never,
      },
    },
    'dataVersion changes': {
      'throws instead of returning a version': { dataVersion: fail },
      'has a version of one byte': { dataVersion: () => disk.commits % 256 },
      'has a version that a single write does not change': commits((writes) => {
        if (writes.length > 1) disk.commits++;
        return disk.apply(writes);
      }),
      'has a version that changes before the commit is visible': commits(async (writes) => {
        disk.commits++;
        await setImmediate();
        return disk.apply(writes);
      }),
    },
    'a damaged plant': {
      'skips damaged plants': {
        list: (user, range) => {
          if (disk.damaged !== undefined) disk.plants.apply({ kind: 'delete', user, id: disk.damaged });
          disk.damaged = undefined;
          return real.list(user, range);
        },
      },
    },
    'lists during a commit': {
      'shows a commit in steps': commitsInSteps,
      'cannot list twice at the same time': {
        list: async (user, range) => {
          if (isListing) fail();
          isListing = true;
          await setImmediate();
          isListing = false;
          return real.list(user, range);
        },
      },
    },
    'a commit that fails': {
      'applies a rejected batch 100 ms later': commits((writes) =>
        real.commit(writes).catch((error: unknown) => {
          void sleep(100).then(() => writes[0] && disk.plants.apply(writes[0]));
          throw error;
        }),
      ),
    },
    'a crash during': { 'loses half a batch in a crash': commitsInSteps },
    'adapters at one location': {
      'overwrites concurrent commits': commits(async (writes) => {
        const plants = new ReferenceStore(disk.plants.scan());
        const outcomes = writes.map((write) => plants.apply(write));
        await setImmediate();
        disk.plants = plants;
        return outcomes;
      }),
    },
    'close may be called': {
      'drops a commit in flight when it is closed': commits(async (writes) => {
        await setImmediate();
        return real.isClosed() ? writes.map(() => true) : real.commit(writes);
      }),
      'throws instead of rejecting': {
        commit: (writes) => {
          real.refuseIfClosed();
          return real.commit(writes);
        },
      },
      'returns nothing after close': {
        scan: async function* () {
          if (!real.isClosed()) yield* real.scan();
        },
      },
    },
    'scan returns': {
      'repeats its pages forever': {
        scan: async function* () {
          for (;;) yield* real.scan();
        },
      },
      'returns empty pages forever': {
        scan: async function* () {
          for (;;) yield [];
        },
      },
      'pages by offset': {
        scan: async function* () {
          for (let offset = 0; offset < disk.plants.scan().length; offset += 1000) {
            yield structuredClone(disk.plants.scan().slice(offset, offset + 1000));
          }
        },
      },
    },
    'scans may end early': {
      'cannot commit after ten scans that ended early': {
        commit: async (writes) => (openScans > 9 ? fail() : real.commit(writes)),
        scan: async function* () {
          openScans++;
          yield* real.scan();
          openScans--;
        },
      },
    },
  };
}
