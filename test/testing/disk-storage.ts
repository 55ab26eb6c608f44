import { countInPage, cutPage } from '../../src/core/page.ts';
import { idOf } from '../../src/core/storage-adapter.ts';
import { PlantStoreError } from '../../src/index.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../src/index.ts';
import type { FaultyWrite } from '../../src/testing.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';

/** What adapters at the same location share. */
export class Disk {
  plants = new ReferenceStore();
  commits = 0;
  failing: FaultyWrite | undefined;
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

/** A short, correct adapter. */
export class DiskStorage implements Required<StorageAdapter> {
  readonly #disk: Disk;
  isClosed = false;

  constructor(disk: Disk) {
    this.#disk = disk;
    disk.open.add(this);
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    if (writes.some((write) => this.#disk.isFaulty(write))) throw new Error('The disk failed.');
    this.#disk.commits++;
    return this.#disk.apply(writes);
  }

  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    return structuredClone(cutPage(this.#disk.plants.list(user, { after }), limit));
  }

  async *scan(): AsyncGenerator<OwnedPlant[]> {
    let last: OwnedPlant | undefined;
    for (;;) {
      this.refuseIfClosed();
      const rest = this.#disk.plants.scan().filter((owned) => last === undefined || isAfter(owned, last));
      const page = rest.slice(0, countInPage(rest.map(({ plant }) => plant)));
      if (page.length === 0) return;
      last = page.at(-1);
      yield structuredClone(page);
    }
  }

  dataVersion(): number {
    return this.#disk.commits;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.#disk.open.delete(this);
  }

  refuseIfClosed(): void {
    if (this.isClosed) throw new PlantStoreError('closed');
  }
}

function isAfter(a: OwnedPlant, b: OwnedPlant): boolean {
  return a.user === b.user ? a.plant.id > b.plant.id : a.user > b.user;
}
