import { setImmediate } from 'node:timers/promises';
import type { Plant } from '../../../src/index.ts';
import type { ListRange, PlantPage, Write } from '../../../src/core/storage-adapter.ts';
import { MapStorage } from './map-storage.ts';
import type { AdapterClass, Place } from './map-storage.ts';

/** Returns an adapter that lists a different range than requested. */
const altersRange = (alter: (range: ListRange) => ListRange): AdapterClass =>
  class extends MapStorage {
    override list(user: string, range: ListRange): Promise<PlantPage> {
      return super.list(user, alter(range));
    }
  };

/** Returns an adapter that alters the pages of lists. */
const altersPage = (alter: (page: PlantPage, range: ListRange) => unknown): AdapterClass =>
  class extends MapStorage {
    override async list(user: string, range: ListRange): Promise<PlantPage> {
      return alter(await super.list(user, range), range) as PlantPage;
    }
  };

/** Returns an adapter that alters the plants in lists. */
const altersPlant = (alter: (plant: Plant) => object): AdapterClass =>
  class extends MapStorage {
    protected override plantsOf(user: string): Plant[] {
      return super.plantsOf(user).map((plant) => alter(plant) as Plant);
    }
  };

/** Returns an adapter that lists the plants of several users as if they were those of one user. */
const mixesUsers = (isListed: (owner: string, user: string) => boolean): AdapterClass =>
  class extends MapStorage {
    protected override plantsOf(user: string): Plant[] {
      const owned = this.copies().filter(({ user: owner }) => isListed(owner, user));
      return owned.map(({ plant }) => plant).sort((a, b) => (a.id < b.id ? -1 : 1));
    }
  };

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
        await undefined;
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
      for (const [index, outcome] of (await super.commit(part)).entries()) outcomes.set(part[index] as Write, outcome);
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

/** Throws errors instead of returning a promise that rejects. */
class ThrowsAtOnce extends MapStorage {
  override list(user: string, range: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    return super.list(user, range);
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

/** Looks up each user as a property of an object. The object also inherits properties. */
class UsesPropertyPerUser extends MapStorage {
  protected override plantsOf(user: string): Plant[] {
    const plants: Record<string, Plant[]> = {};
    for (const { user: owner, plant } of this.copies()) (plants[owner] ??= []).push(plant);
    return plants[user]?.sort((a, b) => (a.id < b.id ? -1 : 1)) ?? [];
  }
}

/** Sorts ids as text. */
class SortsIdsAsText extends MapStorage {
  protected override plantsOf(user: string): Plant[] {
    return super.plantsOf(user).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  }
}

/** Returns the plants of the first page again if there are more than 1000 plants. */
class RepeatsScan extends MapStorage {
  override async *scan(): ReturnType<MapStorage['scan']> {
    for await (const page of super.scan()) {
      yield page.slice(0, 1000);
      if (page.length > 1000) yield page.slice(999);
    }
  }
}

const never = new Promise<never>(() => undefined);
const cases = {
  batch: 'a batch may contain',
  ids: 'ids are exact',
  users: 'users of up to',
  texts: 'names and tags',
  list: 'list returns',
  shared: 'adapters at one location',
  random: 'random commits',
  closed: 'calls after close',
};
const exactly = 'unchanged and in order of id.';

/**
 * Adapters with a fault, which do not share their plants. Each has the start of the title of a test that must fail, and
 * a part of the message.
 */
export const brokenAdapters: Readonly<Record<string, [Adapter: AdapterClass, test: string, message: string]>> = {
  RepeatsAfter: [
    altersRange(({ after, limit }) => ({ after: after === undefined ? after : after - 1n, limit })),
    cases.list,
    `${exactly} list('ada', { after: -9223372036854775808, limit: 1 }) returned other plants.`,
  ],
  IgnoresLimit: [altersRange(({ after }) => ({ after, limit: Infinity })), cases.list, 'more than its limit'],
  MissesSmallIds: [altersRange(({ after = 2n, limit }) => ({ after, limit })), cases.random, exactly],
  MixesUsers: [mixesUsers(() => true), cases.random, exactly],
  ListsPrefix: [mixesUsers((owner, user) => owner.startsWith(user)), cases.users, exactly],
  ListsSlashPrefix: [mixesUsers((owner, user) => `${owner}/`.startsWith(`${user}/`)), cases.users, "list('a', "],
  ListsColonPrefix: [mixesUsers((owner, user) => `${owner}:`.startsWith(`${user}:`)), cases.users, "list('a', "],
  UsesPropertyPerUser: [UsesPropertyPerUser, cases.users, 'must not reject unless the storage fails'],
  ReversesPlants: [
    altersPage(({ plants, hasMore }) => ({ plants: plants.reverse(), hasMore })),
    cases.list,
    'returned other plants',
  ],
  ReturnsNumber: [
    altersPage(({ plants, hasMore }) => ({ plants, hasMore: Number(hasMore) })),
    cases.batch,
    'must resolve with { plants, hasMore }',
  ],
  ListsUndefined: [altersPage(() => undefined), cases.batch, 'It resolved with undefined.'],
  RoundsIds: [altersPlant((plant) => ({ ...plant, id: BigInt(Number(plant.id)) })), cases.ids, exactly],
  ReturnsNullTag: [altersPlant((plant) => ({ ...plant, tag: plant.tag ?? null })), cases.texts, 'tag: null'],
  SortsIdsAsText: [SortsIdsAsText, cases.ids, exactly],
  ThrowsAtOnce: [ThrowsAtOnce, cases.closed, 'must return a promise. It threw'],
  GuessesHasMore: [
    altersPage(({ plants }, { limit }) => ({ plants, hasMore: plants.length === limit })),
    cases.list,
    'returned hasMore: true, but 0 plants follow',
  ],
  HidesMore: [
    altersPage(({ plants }) => ({ plants: plants.slice(0, 2), hasMore: false })),
    cases.list,
    'returned hasMore: false, but',
  ],
  PausesList: [
    altersPage((page, { after }) => (after === 10n ? { plants: [], hasMore: true } : page)),
    cases.list,
    'after: 10, limit: 1 }) returned other plants.',
  ],
  RepeatsScan: [RepeatsScan, 'scan returns each', 'scan must return every plant once'],
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
