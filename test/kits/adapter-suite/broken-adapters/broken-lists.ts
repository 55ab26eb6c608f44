import type { Plant } from '../../../../src/index.ts';
import type { ListRange, PlantPage } from '../../../../src/adapter.ts';
import { MapStorage } from './map-storage.ts';
import type { AdapterClass } from './map-storage.ts';

/** Returns an adapter that lists a different range than requested. */
function altersRange(alter: (range: ListRange) => ListRange): AdapterClass {
  return class extends MapStorage {
    override list(user: string, range: ListRange): Promise<PlantPage> {
      return super.list(user, alter(range));
    }
  };
}

/** Returns an adapter that alters the pages of lists. */
function altersPage(alter: (page: PlantPage, range: ListRange) => unknown): AdapterClass {
  return class extends MapStorage {
    override async list(user: string, range: ListRange): Promise<PlantPage> {
      return alter(await super.list(user, range), range) as PlantPage;
    }
  };
}

/** Returns an adapter that alters the plants in lists. */
function altersPlant(alter: (plant: Plant) => object): AdapterClass {
  return class extends MapStorage {
    protected override plantsOf(user: string): Plant[] {
      return super.plantsOf(user).map((plant) => alter(plant) as Plant);
    }
  };
}

/** Returns an adapter that lists the plants of several users as if they were those of one user. */
function mixesUsers(isListed: (owner: string, user: string) => boolean): AdapterClass {
  return class extends MapStorage {
    protected override plantsOf(user: string): Plant[] {
      const owned = this.sorted().filter(({ user: owner }) => isListed(owner, user));
      return owned.map(({ plant }) => plant).sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
    }
  };
}

/** Sorts ids as text. */
class SortsIdsAsText extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    const sorted = this.plantsOf(user).sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
    const rest = sorted.filter(({ id }) => after === undefined || String(id) > String(after));
    return { plants: rest.slice(0, limit), hasMore: rest.length > limit };
  }
}

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
    const users: Record<string, Plant[]> = {};
    for (const { user: owner, plant } of this.sorted()) (users[owner] ??= []).push(plant);
    return users[user] ?? [];
  }
}

/** The adapters whose lists are wrong, by name. */
export const brokenLists: Readonly<Record<string, AdapterClass>> = {
  RepeatsAfter: altersRange(({ after, limit }) => ({ after: after === undefined ? undefined : after - 1n, limit })),
  IgnoresLimit: altersRange(({ after }) => ({ after, limit: Infinity })),
  MissesSmallIds: altersRange(({ after = 2n, limit }) => ({ after, limit })),
  MixesUsers: mixesUsers(() => true),
  ListsPrefix: mixesUsers((owner, user) => owner.startsWith(user)),
  ListsSlashPrefix: mixesUsers((owner, user) => `${owner}/`.startsWith(`${user}/`)),
  ListsColonPrefix: mixesUsers((owner, user) => `${owner}:`.startsWith(`${user}:`)),
  ListsControlPrefix: mixesUsers((owner, user) => `${owner}\u0001`.startsWith(`${user}\u0001`)),
  UsesPropertyPerUser,
  ReversesPlants: altersPage(({ plants, hasMore }) => ({ plants: plants.reverse(), hasMore })),
  ReturnsNumber: altersPage(({ plants, hasMore }) => ({ plants, hasMore: Number(hasMore) })),
  RoundsIds: altersPlant((plant) => ({ ...plant, id: BigInt(Number(plant.id)) })),
  ReturnsNullTag: altersPlant((plant) => ({ ...plant, tag: plant.tag ?? null })),
  SortsIdsAsText,
  ThrowsAtOnce,
  ListsUndefined: altersPage(() => undefined),
  GuessesHasMore: altersPage(({ plants }, { limit }) => ({ plants, hasMore: plants.length === limit })),
  HidesMore: altersPage(({ plants }) => ({ plants: plants.slice(0, 100), hasMore: false })),
  PausesList: altersPage((page, { after }) => (after === 10n ? { plants: [], hasMore: true } : page)),
};
