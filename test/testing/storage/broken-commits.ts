import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Write } from '../../../src/core/storage-adapter.ts';
import { cases, exactly } from './broken-lists.ts';
import { MapStorage } from './map-storage.ts';
import type { AdapterClass, Place } from './map-storage.ts';

/** Returns an adapter that alters what a commit does. `commit` is the commit of a correct adapter. */
const altersCommit = (
  alter: (writes: readonly Write[], commit: (writes: readonly Write[]) => Promise<boolean[]>) => Promise<boolean[]>,
): AdapterClass =>
  class extends MapStorage {
    override commit(writes: readonly Write[]): Promise<boolean[]> {
      return alter(writes, (batch) => super.commit(batch));
    }
  };

/** Applies a batch without a transaction. */
class CommitsEachWrite extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return writes.map((write) => this.apply(this.plants, write));
  }
}

/** Reads the whole batch first, and then applies it without a transaction. */
class CommitsEachStatement extends CommitsEachWrite {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    return super.commit(structuredClone(writes));
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

/** Applies creates in one transaction, and deletes in another transaction. */
class CommitsCreatesFirst extends MapStorage {
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

/** Omits empty tags. */
class LosesEmptyTag extends MapStorage {
  protected override apply(...[plants, write]: Parameters<MapStorage['apply']>): boolean {
    if (write.kind === 'delete' || write.plant.tag !== '') return super.apply(plants, write);
    const { id, name } = write.plant;
    return super.apply(plants, { ...write, plant: { id, name } });
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

/** Locks its location while it is open. */
class LocksLocation extends MapStorage {
  constructor(place: Place) {
    super(place);
    if (place.commits++ > 0) throw new Error('EEXIST: file already exists');
  }

  override async close(): Promise<void> {
    this.place.commits = 0;
    return super.close();
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

/** Leaves a timer open. */
class LeavesTimer extends MapStorage {
  protected readonly timer = setInterval(() => undefined, 1000);
}

const never = new Promise<never>(() => undefined);
/** Adapters with a fault, like `brokenLists`. */
export const brokenCommits: Readonly<Record<string, [Adapter: AdapterClass, test: string, message: string]>> = {
  KeepsObjects: [KeepsObjects, 'commit, list and scan share', 'must not change if the caller changes'],
  LosesEmptyTag: [LosesEmptyTag, cases.texts, exactly],
  CommitsEachWrite: [CommitsEachWrite, cases.random, 'The shortest history that fails:'],
  CommitsEachStatement: [CommitsEachStatement, cases.random, 'which fails at'],
  CommitsCreatesFirst: [CommitsCreatesFirst, cases.random, 'which fails at'],
  UndoesInMemory: [UndoesInMemory, 'lists during a commit of 1000', 'all or nothing for every list'],
  ReadsDirty: [ReadsDirty, 'lists during a commit that fails', 'must not show writes of a commit that fails'],
  AcknowledgesEarly: [AcknowledgesEarly, cases.batch, 'When a commit has resolved'],
  ForgetsOutcomes: [
    altersCommit(async (writes, commit) => (await commit(writes)).slice(1)),
    cases.batch,
    'commit must return true for each create',
  ],
  RejectsTakenId: [
    altersCommit(async (writes, commit) => {
      const outcomes = await commit(writes);
      if (outcomes.includes(false)) throw new Error('UNIQUE constraint failed');
      return outcomes;
    }),
    cases.random,
    'must not reject unless the storage fails',
  ],
  HidesFailure: [HidesFailure, cases.random, 'commit must reject if the storage fails at a write'],
  NeverSettles: [altersCommit(() => never), cases.batch, 'must settle. It did not settle within 1 s.'],
  ClosesOnce: [ClosesOnce, cases.closed, 'close() must not reject'],
  LeavesTimer: [LeavesTimer, '(a closed adapter|a batch)', 'handles are open: Timeout'],
  LocksLocation: [LocksLocation, cases.shared, 'open failed with Error "EEXIST: file already exists"'],
  SharesPlants: [SharesPlants, cases.shared, 'Of two concurrent creates of one plant, 2 must succeed, not 1.'],
};
