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

/** Returns an adapter that lists the plants of several users as if they were those of one user. */
const mixesUsers = (isListed: (owner: string, user: string) => boolean): AdapterClass =>
  class extends MapStorage {
    protected override plantsOf(user: string): Plant[] {
      const owned = this.copies().filter(({ user: owner }) => isListed(owner, user));
      return owned.map(({ plant }) => plant).sort((a, b) => (a.id < b.id ? -1 : 1));
    }
  };

/** Throws errors instead of returning a promise that rejects. */
class ThrowsAtOnce extends MapStorage {
  override list(user: string, range: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    return super.list(user, range);
  }
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

export const cases = {
  batch: 'a batch may contain',
  ids: 'ids are exact',
  users: 'users of up to',
  texts: 'names and tags',
  list: 'list returns',
  shared: 'adapters at one location',
  random: 'random commits',
  closed: 'calls after close',
};
export const exactly = 'unchanged and in order of id.';

/**
 * Adapters with a fault, which do not share their plants. Each has the start of the title of a test that must fail, and
 * a part of the message.
 */
export const brokenLists: Readonly<Record<string, [Adapter: AdapterClass, test: string, message: string]>> = {
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
};
