import { cutPage, scanPages } from '../../src/core/page.ts';
import { idOf } from '../../src/core/storage-adapter.ts';
import { PlantStoreError } from '../../src/index.ts';
import type { StorageAdapter, Write } from '../../src/index.ts';
import type { FaultyWrite } from '../../src/testing.ts';
import { ReferenceStore } from '../../src/testing/plants.ts';

/** What adapters at the same location share. */
export class Disk {
  plants = new ReferenceStore();
  commits = 0;
  failing: FaultyWrite | undefined;
  /** The id of the plant that cannot be read. */
  damaged: bigint | undefined;
  /** The adapters that are open. */
  readonly open = new Set<StorageAdapter>();

  isFaulty(write: Write): boolean {
    const { kind, user, id } = this.failing ?? {};
    return write.kind === kind && write.user === user && idOf(write) === id;
  }

  /** Applies the writes one after the other. Throws at the write that must fail. */
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
