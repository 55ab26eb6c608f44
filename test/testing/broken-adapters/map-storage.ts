import { PlantStoreError } from '../../../src/model/errors.ts';
import { compareUsers } from '../../../src/storage/key-order.ts';
import type { FaultyWrite } from '../../../src/testing/suite.ts';
import type { ListRange, OwnedPlant, ScanRange, StorageAdapter, StoredPlant, Write } from '../../../src/index.ts';

/** The faults of one location. Its adapters fail when they apply the faulty writes. */
export class Faults {
  failing: FaultyWrite | undefined;
  unstorable: FaultyWrite | undefined;
  /** The plants and the lock of adapters that share them, which no correct adapter here does. */
  readonly shared = new Map<string, OwnedPlant>();
  isLocked = false;

  isFor(write: Write, faulty: FaultyWrite | undefined): boolean {
    const id = write.kind === 'create' ? write.plant.id : write.id;
    return write.kind === faulty?.kind && write.user === faulty.user && id === faulty.id;
  }
}

/** A short, correct adapter from which the broken ones derive. A commit is all or nothing, because it works on a copy. */
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

  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    this.refuseIfClosed();
    const plants = this.sorted()
      .filter((owned) => owned.user === user)
      .map(({ plant }) => plant);
    return plants.filter(({ id }) => after === undefined || id > after).slice(0, limit);
  }

  async scan({ after, limit }: ScanRange): Promise<OwnedPlant[]> {
    this.refuseIfClosed();
    const isAfter = ({ user, plant }: OwnedPlant): boolean =>
      after === undefined || (this.compareUsers(user, after.user) || (plant.id > after.id ? 1 : -1)) > 0;
    return this.sorted().filter(isAfter).slice(0, limit);
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

  /** Returns copies of all plants, ordered by user and then by id. */
  protected sorted(): OwnedPlant[] {
    return [...this.plants.values()]
      .map(({ user, plant }) => ({ user, plant: { ...plant } }))
      .sort((a, b) => this.compareUsers(a.user, b.user) || (a.plant.id < b.plant.id ? -1 : 1));
  }

  protected unstorableError(): Error {
    return new PlantStoreError('invalid_plant');
  }

  protected compareUsers(a: string, b: string): number {
    return compareUsers(a, b);
  }

  protected refuseIfClosed(): void {
    if (this.isClosed) throw new PlantStoreError('closed');
  }
}
