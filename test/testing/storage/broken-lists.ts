import type { Plant } from '../../../src/index.ts';
import type { ListRange, PlantPage } from '../../../src/core/storage-adapter.ts';
import { MapStorage } from './map-storage.ts';
import type { AdapterClass } from './map-storage.ts';

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

/** Also lists the plants of users whose name begins with the user's name. */
class ListsPrefix extends MapStorage {
  protected override plantsOf(user: string): Plant[] {
    const owned = this.copies().filter(({ user: owner }) => owner.startsWith(user));
    return owned.map(({ plant }) => plant).sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** Looks users up in an object, which inherits members such as `constructor`. */
class InheritsUsers extends MapStorage {
  protected override plantsOf(user: string): Plant[] {
    return user in {} ? [] : super.plantsOf(user);
  }
}

/** Throws errors instead of returning a promise that rejects. */
class ThrowsAtOnce extends MapStorage {
  override list(user: string, range: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    return super.list(user, range);
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

export const cases = {
  batch: 'a batch may contain',
  ids: 'ids are exact',
  users: 'users of up to',
  texts: 'names and tags',
  list: 'list returns',
  shared: 'adapters at one location',
  random: 'random calls',
  closed: 'calls after close',
};

/** Adapters with a fault. Each has the start of the title of a test that must fail. */
export type BrokenAdapters = Readonly<Record<string, [Adapter: AdapterClass, test: string]>>;

export const brokenLists: BrokenAdapters = {
  RepeatsAfter: [
    altersRange(({ after, limit }) => ({ after: after === undefined ? after : after - 1n, limit })),
    cases.list,
  ],
  IgnoresLimit: [altersRange(({ after }) => ({ after, limit: Infinity })), cases.list],
  MissesNegativeIds: [altersRange(({ after = -1n, limit }) => ({ after, limit })), cases.random],
  ListsPrefix: [ListsPrefix, cases.users],
  InheritsUsers: [InheritsUsers, cases.users],
  ReturnsNumber: [altersPage(({ plants, hasMore }) => ({ plants, hasMore: Number(hasMore) })), cases.batch],
  RoundsIds: [altersPlant((plant) => ({ ...plant, id: BigInt(Number(plant.id)) })), cases.ids],
  SortsIdsAsText: [SortsIdsAsText, cases.ids],
  ReturnsNullTag: [altersPlant((plant) => ({ ...plant, tag: plant.tag ?? null })), cases.texts],
  LosesEmptyTag: [altersPlant(({ tag, ...plant }) => (tag ? { ...plant, tag } : plant)), cases.texts],
  ThrowsAtOnce: [ThrowsAtOnce, cases.closed],
  GuessesHasMore: [altersPage(({ plants }, { limit }) => ({ plants, hasMore: plants.length === limit })), cases.list],
  HidesMore: [altersPage(({ plants }) => ({ plants: plants.slice(0, 2), hasMore: false })), cases.list],
  PausesList: [altersPage((page, { after }) => (after === 10n ? { plants: [], hasMore: true } : page)), cases.list],
  RepeatsScan: [RepeatsScan, 'scan returns each'],
};
