import assert from 'node:assert/strict';
import type { ListRange, OwnedPlant, StorageAdapter, StoredPlant, Write } from '../../../src/index.ts';
import { MapStorage } from './map-storage.ts';
import type { Faults } from './map-storage.ts';

const ascending = (a: StoredPlant, b: StoredPlant): number => (a.id < b.id ? -1 : Number(a.id > b.id));

/** Starts a page with the plant at `after` instead of the one after it. */
class RepeatsAfter extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    return super.list(user, { after: after === undefined ? undefined : after - 1n, limit });
  }
}

/** Does not filter by user. */
class MixesUsers extends MapStorage {
  override async list(_user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    this.refuseIfClosed();
    const plants = this.sorted()
      .map(({ plant }) => plant)
      .sort(ascending);
    return plants.filter(({ id }) => after === undefined || id > after).slice(0, limit);
  }
}

/** Returns ids that are rounded to doubles. */
class RoundsIds extends MapStorage {
  override async list(user: string, range: ListRange): Promise<StoredPlant[]> {
    return (await super.list(user, range)).map((plant) => ({ ...plant, id: BigInt(Number(plant.id)) }));
  }
}

/** Has no transaction around a batch. */
class CommitsEachWrite extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return writes.map((write) => this.apply(this.plants, write));
  }
}

/** Reads the whole batch first, and then has no transaction around it. */
class CommitsEachStatement extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return structuredClone(writes).map((write) => this.apply(this.plants, write));
  }
}

/** Has one transaction for the creates of a batch, and another one for its deletes. */
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

/** Reports a plant that it cannot hold as a failure of the storage. */
class FailsNeighbours extends MapStorage {
  protected override unstorableError(): Error {
    return new Error('The text cannot be encoded.');
  }
}

class IgnoresLimit extends MapStorage {
  override async list(user: string, { after }: ListRange): Promise<StoredPlant[]> {
    return super.list(user, { after, limit: Infinity });
  }
}

/** Stores an empty tag as an absent one. */
class LosesEmptyTag extends MapStorage {
  protected override apply(plants: Map<string, OwnedPlant>, write: Write): boolean {
    if (write.kind === 'delete' || write.plant.tag !== '') return super.apply(plants, write);
    const { id, name } = write.plant;
    return super.apply(plants, { ...write, plant: { id, name } });
  }
}

/** Sorts ids as text. */
class SortsIdsAsText extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    const plants = await super.list(user, { after: undefined, limit: Infinity });
    const sorted = plants.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    return sorted.filter(({ id }) => after === undefined || String(id) > String(after)).slice(0, limit);
  }
}

/** Resolves before the writes are visible. */
class AcknowledgesEarly extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const copies = structuredClone(writes);
    const plants = new Map(this.plants);
    const outcomes = copies.map((write) => this.apply(plants, write));
    setTimeout(() => {
      for (const write of copies) this.apply(this.plants, write);
    }, 20);
    return outcomes;
  }
}

class ClosesOnce extends MapStorage {
  override async close(): Promise<void> {
    if (this.isClosed) throw new Error('The database is not open.');
    this.isClosed = true;
  }
}

/** Sorts users as JavaScript sorts strings. */
class SortsUsersByUtf16 extends MapStorage {
  protected override compareUsers(a: string, b: string): number {
    return a < b ? -1 : Number(a > b);
  }
}

class NeverSettles extends MapStorage {
  override commit(): Promise<boolean[]> {
    return new Promise(() => undefined);
  }
}

class ListsUndefined extends MapStorage {
  override async list(): Promise<StoredPlant[]> {
    return undefined as unknown as StoredPlant[];
  }
}

/** Resolves after an error, like an adapter that catches everything. */
class HidesFailure extends MapStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    return super.commit(writes).catch((error: unknown) => {
      if (this.isClosed) throw error;
      return writes.map(() => true);
    });
  }
}

/** Throws errors instead of rejecting. */
class ThrowsAtOnce extends MapStorage {
  override list(user: string, range: ListRange): Promise<StoredPlant[]> {
    this.refuseIfClosed();
    return super.list(user, range);
  }
}

/** Returns invented plants at the end of a list. */
class ListsForever extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    const page = await super.list(user, { after, limit });
    if (page.length > 0 || after === undefined) return page;
    return Array.from({ length: limit }, (_, n) => ({ id: after + BigInt(n) + 1n, name: 'invented' }));
  }
}

/** Starts a list at the wrong id. */
class MissesSmallIds extends MapStorage {
  override async list(user: string, { after = 2n, limit }: ListRange): Promise<StoredPlant[]> {
    return super.list(user, { after, limit });
  }
}

/** Lists every user whose name begins with the given name. */
class ListsPrefix extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    this.refuseIfClosed();
    const plants = this.sorted().filter((owned) => owned.user.startsWith(user));
    return plants
      .map(({ plant }) => plant)
      .filter(({ id }) => after === undefined || id > after)
      .slice(0, limit);
  }
}

/** Returns the tag `null`, as a database does. */
class ReturnsNullTag extends MapStorage {
  override async list(user: string, range: ListRange): Promise<StoredPlant[]> {
    const plants = await super.list(user, range);
    return plants.map((plant) => ({ ...plant, tag: plant.tag ?? null }) as StoredPlant);
  }
}

/** Locks its location while it is open. */
class LocksLocation extends MapStorage {
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

/** Shares its plants with the other adapters on its location. */
class SharesPlants extends MapStorage {
  constructor(faults: Faults) {
    super(faults);
    this.plants = faults.shared;
  }

  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    return structuredClone(writes).map((write) => this.apply(this.plants, write));
  }
}

/** The adapters, by the name in the variable ADAPTER. */
export const adapters: Readonly<Record<string, new (faults: Faults) => StorageAdapter>> = {
  MapStorage,
  FaultyMapStorage: MapStorage,
  PlainRunner: MapStorage,
  RepeatsAfter,
  MixesUsers,
  RoundsIds,
  CommitsEachWrite,
  CommitsEachStatement,
  CommitsCreatesFirst,
  FailsNeighbours,
  IgnoresLimit,
  LosesEmptyTag,
  SortsIdsAsText,
  AcknowledgesEarly,
  ClosesOnce,
  SortsUsersByUtf16,
  NeverSettles,
  ListsUndefined,
  HidesFailure,
  ThrowsAtOnce,
  ListsForever,
  MissesSmallIds,
  ListsPrefix,
  ReturnsNullTag,
  LocksLocation,
  SharesPlants,
};
