import { PlantStoreError } from '../../../../src/core/model/errors.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../../../src/adapter.ts';
import type { StorageAdapter, Plant } from '../../../../src/index.ts';
import type { Write } from '../../../../src/adapter.ts';
import type { FaultyWrite } from '../../../../src/kits/adapter-suite/suite.ts';

/** The faults of one location. The adapters at this location fail when they apply the faulty writes. */
export class Faults {
  failing: FaultyWrite | undefined;
  unstorable: FaultyWrite | undefined;
  /** The path of a file in the location's folder. */
  readonly path: string;
  /** The plants of adapters that share their plants. */
  readonly shared = new Map<string, OwnedPlant>();
  isLocked = false;

  constructor(path: string) {
    this.path = path;
  }

  isFor(write: Write, faulty: FaultyWrite | undefined): boolean {
    const id = write.kind === 'create' ? write.plant.id : write.id;
    return write.kind === faulty?.kind && write.user === faulty.user && id === faulty.id;
  }
}

/** An adapter class that the suite tests. */
export type AdapterClass = new (faults: Faults) => StorageAdapter;

/** A short, correct base class of the broken adapters. A commit changes a copy, so that it is all or nothing. */
export class MapStorage implements StorageAdapter {
  protected plants = new Map<string, OwnedPlant>();
  protected isClosed = false;
  protected readonly faults: Faults;

  constructor(faults: Faults) {
    this.faults = faults;
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const plants = new Map(this.plants);
    const outcomes = writes.map((write) => this.apply(plants, write));
    this.plants = plants;
    return outcomes;
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    return pageOf(this.plantsOf(user), range);
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    this.refuseIfClosed();
    const sorted = this.sorted();
    for (let at = 0; at < sorted.length; at += 1000) yield sorted.slice(at, at + 1000);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  protected apply(plants: Map<string, OwnedPlant>, write: Write): boolean {
    if (this.faults.isFor(write, this.faults.failing)) throw new Error('The disk failed.');
    if (this.faults.isFor(write, this.faults.unstorable)) throw this.unstorableError();
    const key = JSON.stringify([write.user, String(write.kind === 'create' ? write.plant.id : write.id)]);
    if (write.kind === 'delete') return plants.delete(key);
    if (plants.has(key)) return false;
    plants.set(key, { user: write.user, plant: { ...write.plant } });
    return true;
  }

  /** Returns copies of a user's plants, ordered by id. */
  protected plantsOf(user: string): Plant[] {
    return this.sorted()
      .filter((owned) => owned.user === user)
      .map(({ plant }) => plant);
  }

  /** Returns copies of all plants, ordered by id. */
  protected sorted(): OwnedPlant[] {
    return [...this.plants.values()]
      .map(({ user, plant }) => ({ user, plant: { ...plant } }))
      .sort((a, b) => (a.plant.id < b.plant.id ? -1 : 1));
  }

  protected unstorableError(): Error {
    return new PlantStoreError('invalid_plant');
  }

  protected refuseIfClosed(): void {
    if (this.isClosed) throw new PlantStoreError('closed');
  }
}

/** A correct adapter with both optional methods. Its pages contain about half as many plants as the limit allows. */
export class ShortPagesStorage extends MapStorage {
  override list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    return super.list(user, { after, limit: Math.ceil(limit / 2) });
  }

  dataVersion(): number {
    return 0;
  }
}

/** Returns a page of `plants`. These plants must be sorted by id. */
function pageOf(plants: readonly Plant[], { after, limit }: ListRange): PlantPage {
  const rest = plants.filter(({ id }) => after === undefined || id > after);
  return { plants: rest.slice(0, limit), hasMore: rest.length > limit };
}
