import { setImmediate } from 'node:timers/promises';
import type { OwnedPlant, Write } from '../../../src/core/storage-adapter.ts';
import { cases } from './broken-lists.ts';
import type { BrokenAdapters } from './broken-lists.ts';
import { MapStorage } from './map-storage.ts';
import type { Place } from './map-storage.ts';

/** Reads the whole batch first, and then applies it without a transaction. */
class CommitsEachStatement extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return structuredClone(writes).map((write) => this.apply(this.plants, write));
  }
}

/** Applies the writes one by one, and restores the former plants if one of them fails. Lists see parts of a batch. */
class UndoesInMemory extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const former = new Map(this.plants);
    const outcomes: boolean[] = [];
    try {
      for (const write of structuredClone(writes)) {
        outcomes.push(this.apply(this.plants, write));
        await Promise.resolve();
      }
      return outcomes;
    } catch (error) {
      this.plants = former;
      throw error;
    }
  }
}

/** Lists the plants of a commit before the commit succeeds. */
class ReadsDirty extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const former = this.plants;
    this.plants = new Map(former);
    const outcomes = structuredClone(writes).map(
      (write) => this.place.isFaulty(write) || this.apply(this.plants, write),
    );
    await setImmediate();
    if (!writes.some((write) => this.place.isFaulty(write))) return outcomes;
    this.plants = former;
    throw new Error('The disk failed.');
  }
}

/** Scans the plants of a commit before the commit succeeds. */
class ScansDirty extends MapStorage {
  #pending: OwnedPlant[] = [];

  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.#pending = writes.flatMap((write) =>
      write.kind === 'create' && !this.place.isFaulty(write) ? [{ user: write.user, plant: { ...write.plant } }] : [],
    );
    await setImmediate();
    return super.commit(writes).finally(() => (this.#pending = []));
  }

  override async *scan(): ReturnType<MapStorage['scan']> {
    yield* super.scan();
    if (this.#pending.length > 0) yield this.#pending;
  }
}

/** Resolves before the writes are visible. */
class AcknowledgesEarly extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    const before = this.plants;
    const outcomes = await super.commit(writes);
    const after = this.plants;
    this.plants = before;
    setTimeout(() => (this.plants = after), 5);
    return outcomes;
  }
}

class ClosesOnce extends MapStorage {
  override async close(): Promise<void> {
    this.refuseIfClosed();
    this.isClosed = true;
  }
}

/** Resolves after an error, as an adapter does that catches all errors. */
class HidesFailure extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return super.commit(writes).catch(() => writes.map(() => true));
  }
}

/** Shares its plants with the other adapters at its location. */
class SharesPlants extends CommitsEachStatement {
  constructor(place: Place) {
    super(place);
    this.plants = place.shared;
  }
}

/** Stores the objects that it receives. */
class KeepsObjects extends MapStorage {
  protected override copies(): ReturnType<MapStorage['copies']> {
    return [...this.plants.values()];
  }
}

class HidesOutcomes extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    return (await super.commit(writes)).map(() => true);
  }
}

export class NeverSettles extends MapStorage {
  override commit(): Promise<boolean[]> {
    return new Promise(() => undefined);
  }
}

export const brokenCommits: BrokenAdapters = {
  KeepsObjects: [KeepsObjects, 'commit, list and scan share'],
  CommitsEachStatement: [CommitsEachStatement, cases.random],
  UndoesInMemory: [UndoesInMemory, 'lists during a commit of 1000'],
  ReadsDirty: [ReadsDirty, 'lists and scans during a commit that fails'],
  ScansDirty: [ScansDirty, 'lists and scans during a commit that fails'],
  AcknowledgesEarly: [AcknowledgesEarly, cases.batch],
  HidesOutcomes: [HidesOutcomes, cases.random],
  HidesFailure: [HidesFailure, cases.random],
  ClosesOnce: [ClosesOnce, cases.closed],
  SharesPlants: [SharesPlants, cases.shared],
};
