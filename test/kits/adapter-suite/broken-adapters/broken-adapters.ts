import assert from 'node:assert/strict';
import type { OwnedPlant, Write } from '../../../../src/adapter.ts';
import { MapStorage } from './map-storage.ts';
import type { Faults } from './map-storage.ts';

/** Applies a batch without a transaction. */
export class CommitsEachWrite extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return writes.map((write) => this.apply(this.plants, write));
  }
}

/** Reads the whole batch first, and then applies the batch without a transaction. */
export class CommitsEachStatement extends CommitsEachWrite {
  override commit(writes: readonly Write[]): Promise<boolean[]> {
    return super.commit(structuredClone(writes));
  }
}

/** Applies a batch's create writes in one transaction, and its delete writes in another transaction. */
export class CommitsCreatesFirst extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    const outcomes = new Map<Write, boolean>();
    for (const kind of ['create', 'delete']) {
      const part = writes.filter((write) => write.kind === kind);
      for (const [index, outcome] of (await super.commit(part)).entries()) {
        outcomes.set(part[index] ?? assert.fail(), outcome);
      }
    }
    return writes.map((write) => outcomes.get(write) === true);
  }
}

/** Omits empty tags when it stores plants. */
export class LosesEmptyTag extends MapStorage {
  protected override apply(plants: Map<string, OwnedPlant>, write: Write): boolean {
    if (write.kind === 'delete' || write.plant.tag !== '') return super.apply(plants, write);
    const { id, name } = write.plant;
    return super.apply(plants, { ...write, plant: { id, name } });
  }
}

/** Resolves before the writes are visible. */
export class AcknowledgesEarly extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    const before = this.plants;
    const outcomes = await super.commit(writes);
    const after = this.plants;
    this.plants = before;
    setTimeout(() => (this.plants = after), 20);
    return outcomes;
  }
}

export class ClosesOnce extends MapStorage {
  override async close(): Promise<void> {
    if (this.isClosed) throw new Error('The database is not open.');
    this.isClosed = true;
  }
}

/** Returns no outcomes. */
export class ForgetsOutcomes extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    await super.commit(writes);
    return [];
  }
}

export class RejectsTakenId extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    const outcomes = await super.commit(writes);
    if (outcomes.includes(false)) throw new Error('UNIQUE constraint failed');
    return outcomes;
  }
}

export class NeverSettles extends MapStorage {
  override commit(): Promise<boolean[]> {
    return new Promise(() => undefined);
  }
}

/** Resolves after an error, as an adapter does that catches all errors. */
export class HidesFailure extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    return super.commit(writes).catch((error: unknown) => {
      if (this.isClosed) throw error;
      return writes.map(() => true);
    });
  }
}

/** Locks its location while the adapter is open. */
export class LocksLocation extends MapStorage {
  constructor(faults: Faults) {
    if (faults.isLocked) throw new Error('EEXIST: file already exists');
    super(faults);
    faults.isLocked = true;
  }

  override async close(): Promise<void> {
    this.faults.isLocked = false;
    await super.close();
  }
}

/** Shares its plants with the other adapters at its location. */
export class SharesPlants extends CommitsEachStatement {
  constructor(faults: Faults) {
    super(faults);
    this.plants = faults.shared;
  }
}
