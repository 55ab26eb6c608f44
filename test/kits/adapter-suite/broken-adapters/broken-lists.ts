import type {
  JsonPage,
  ListRange,
  PageRequest,
  PlantPage,
  StorageAdapter,
  StoredPlant,
} from '../../../../src/index.ts';
import { MapStorage, ShortPagesStorage } from './map-storage.ts';
import type { Faults } from './map-storage.ts';

/** Starts a page with the plant at `after` instead of the one after it. */
class RepeatsAfter extends MapStorage {
  override list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    return super.list(user, { after: after === undefined ? undefined : after - 1n, limit });
  }
}

/** Does not filter by user. */
class MixesUsers extends MapStorage {
  protected override plantsOf(): StoredPlant[] {
    return this.sorted()
      .map(({ plant }) => plant)
      .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  }
}

/** Lists every user whose name begins with the given name. */
class ListsPrefix extends MapStorage {
  protected override plantsOf(user: string): StoredPlant[] {
    return this.sorted()
      .filter((owned) => owned.user.startsWith(user))
      .map(({ plant }) => plant);
  }
}

/** Returns ids that are rounded to doubles. */
class RoundsIds extends MapStorage {
  protected override plantsOf(user: string): StoredPlant[] {
    return super.plantsOf(user).map((plant) => ({ ...plant, id: BigInt(Number(plant.id)) }));
  }
}

/** Returns the tag `null`, as a database does. */
class ReturnsNullTag extends MapStorage {
  protected override plantsOf(user: string): StoredPlant[] {
    return super.plantsOf(user).map((plant) => ({ ...plant, tag: plant.tag ?? null }) as StoredPlant);
  }
}

class IgnoresLimit extends MapStorage {
  override list(user: string, { after }: ListRange): Promise<PlantPage> {
    return super.list(user, { after, limit: Infinity });
  }
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

/** Starts a list at the wrong id. */
class MissesSmallIds extends MapStorage {
  override list(user: string, { after = 2n, limit }: ListRange): Promise<PlantPage> {
    return super.list(user, { after, limit });
  }
}

/** Returns invented plants at the end of a list. */
class ListsForever extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    const page = await super.list(user, { after, limit });
    if (page.plants.length > 0 || after === undefined) return { ...page, hasMore: true };
    const count = Math.min(limit, 1000);
    const plants = Array.from({ length: count }, (_, n) => ({ id: after + BigInt(n) + 1n, name: 'invented' }));
    return { plants, hasMore: true };
  }
}

class ListsUndefined extends MapStorage {
  override async list(): Promise<PlantPage> {
    return undefined as unknown as PlantPage;
  }
}

/** Returns the plants without `hasMore`. */
class ListsArray extends MapStorage {
  override async list(user: string, range: ListRange): Promise<PlantPage> {
    return (await super.list(user, range)).plants as unknown as PlantPage;
  }
}

/** Throws errors instead of rejecting. */
class ThrowsAtOnce extends MapStorage {
  override list(user: string, range: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    return super.list(user, range);
  }
}

/** Sets `hasMore` if the page has as many plants as the limit allows, even if no plant follows. */
class GuessesHasMore extends MapStorage {
  override async list(user: string, range: ListRange): Promise<PlantPage> {
    const { plants } = await super.list(user, range);
    return { plants, hasMore: plants.length === range.limit };
  }
}

/** Ends pages early without setting `hasMore`. */
class HidesMore extends MapStorage {
  override async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    const { plants } = await super.list(user, { after, limit: Math.min(limit, 100) });
    return { plants, hasMore: false };
  }
}

/** Ends every list with an empty page, and sets `hasMore` in all others. */
class EndsWithEmptyPage extends MapStorage {
  override async list(user: string, range: ListRange): Promise<PlantPage> {
    const { plants } = await super.list(user, range);
    return { plants, hasMore: plants.length > 0 };
  }
}

/** Returns an empty page in the middle of a list. */
class PausesList extends MapStorage {
  override async list(user: string, range: ListRange): Promise<PlantPage> {
    return range.after === 10n ? { plants: [], hasMore: true } : super.list(user, range);
  }
}

/** Returns one plant more than the limit. */
class IgnoresPageLimit extends ShortPagesStorage {
  override async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return super.listPages(requests.map((request) => ({ ...request, limit: 2 * request.limit + 2 })));
  }
}

/** Returns the pages in the order of the users. */
class SortsPages extends ShortPagesStorage {
  override listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return super.listPages(requests.toSorted((a, b) => this.compareUsers(a.user, b.user)));
  }
}

/** Returns one page for identical requests. */
class MergesRequests extends ShortPagesStorage {
  override listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    const keyOf = ({ user, after, limit }: PageRequest): string => `${user} ${after ?? ''} ${limit}`;
    return super.listPages([...new Map(requests.map((request) => [keyOf(request), request])).values()]);
  }
}

/** Returns a list of plants that are not JSON-escaped. */
class ForgetsEscapes extends ShortPagesStorage {
  override async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return (await super.listPages(requests)).map((page) => ({ ...page, json: page.json.replaceAll('\\', '') }));
  }
}

/** Builds JSON with white space. */
class SpacesJson extends ShortPagesStorage {
  override async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return (await super.listPages(requests)).map((page) => ({ ...page, json: page.json.replaceAll(',', ', ') }));
  }
}

/** Counts the plants of the whole batch. */
class CountsBatch extends ShortPagesStorage {
  override async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    const pages = await super.listPages(requests);
    return pages.map((page) => ({ ...page, count: pages.reduce((sum, { count }) => sum + count, 0) }));
  }
}

/** Returns the start of the page as its end. */
class RepeatsLast extends ShortPagesStorage {
  override async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return (await super.listPages(requests)).map((page, n) => ({ ...page, last: requests[n]?.after }));
  }
}

/** Sets `hasMore` of all pages as in the last one. */
class SharesHasMore extends ShortPagesStorage {
  override async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    const pages = await super.listPages(requests);
    return pages.map((page) => ({ ...page, hasMore: pages.at(-1)?.hasMore === true && page.count > 0 }));
  }
}

/** The adapters whose lists are wrong, by the name in the variable ADAPTER. */
export const brokenLists: Readonly<Record<string, new (faults: Faults) => StorageAdapter>> = {
  RepeatsAfter,
  MixesUsers,
  ListsPrefix,
  RoundsIds,
  ReturnsNullTag,
  IgnoresLimit,
  SortsIdsAsText,
  MissesSmallIds,
  ListsForever,
  ListsUndefined,
  ListsArray,
  ThrowsAtOnce,
  GuessesHasMore,
  HidesMore,
  EndsWithEmptyPage,
  PausesList,
  IgnoresPageLimit,
  SortsPages,
  MergesRequests,
  ForgetsEscapes,
  SpacesJson,
  CountsBatch,
  RepeatsLast,
  SharesHasMore,
};
