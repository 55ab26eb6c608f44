import type { PlantId, StoredPlant } from '../core/model/plant.ts';

/** A write that creates a plant for a user, unless the user already has a plant with the same id. */
export interface CreateWrite {
  /** Distinguishes the kinds of writes. */
  readonly kind: 'create';
  /** The user of the plant. */
  readonly user: string;
  /** The plant to create. */
  readonly plant: Readonly<StoredPlant>;
}

/** A write that deletes a user's plant, if it exists. */
export interface DeleteWrite {
  /** Distinguishes the kinds of writes. */
  readonly kind: 'delete';
  /** The user of the plant. */
  readonly user: string;
  /** The id of the plant to delete. */
  readonly id: PlantId;
}

/** A write, which creates or deletes one plant. */
export type Write = CreateWrite | DeleteWrite;

/** Selects which of a user's plants to read. */
export interface ListRange {
  /** Read only plants with an id greater than this one. If `undefined`, start at the smallest id. */
  readonly after: PlantId | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A request for a page of a user's plants. */
export interface PageRequest extends ListRange {
  /** The user whose plants to read. */
  readonly user: string;
}

/** The key of a plant. */
export interface PlantKey {
  /** The user of the plant. */
  readonly user: string;
  /** The id of the plant, unique among the plants of the user. */
  readonly id: PlantId;
}

/** A plant and its user. */
export interface OwnedPlant {
  /** The user of the plant. */
  readonly user: string;
  /** The plant. */
  readonly plant: StoredPlant;
}

/** Selects which plants to read from the plants of all users. */
export interface ScanRange {
  /**
   * Read only plants whose key is greater than this key, even if there is no plant with this key. If `undefined`, start
   * at the first plant.
   */
  readonly after: PlantKey | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A page of a user's plants. */
export interface PlantPage {
  /** The plants, in ascending order of id. */
  readonly plants: StoredPlant[];
  /** Whether the user has plants with ids greater than that of the last plant. */
  readonly hasMore: boolean;
}

/** A page of a user's plants as JSON. */
export interface JsonPage {
  /**
   * A JSON array of the plants in ascending order of id, without white space between tokens. Each element is
   * `{"name":…,"tag":…}`, without the id.
   */
  readonly json: string;
  /** The number of plants in the page. */
  readonly count: number;
  /** The id of the last plant; `undefined` if the page is empty. */
  readonly last: PlantId | undefined;
  /** Whether the user has plants with ids greater than `last`. */
  readonly hasMore: boolean;
}

/**
 * Stores plants. To write an adapter, implement the four required methods and test the adapter with
 * `testStorageAdapter` from `plant-store/testing`.
 *
 * The key of a plant is (user, id), so two users may use the same id. An adapter does not need to check arguments,
 * because its callers do so. Methods return new plain objects, which the caller may change.
 *
 * Every promise must resolve or reject in bounded time, because a commit that never settles stops all writes of the
 * store. An adapter that uses a network therefore needs a timeout.
 *
 * After `close()`, methods reject with a PlantStoreError `closed`. If the storage fails, methods may reject with any
 * error, which a PlantStore converts to `storage_unavailable`. If a more specific code of PlantStoreError describes the
 * failure, methods reject with that code.
 */
export interface StorageAdapter {
  /**
   * Applies a batch of writes atomically: either all of them or none. When the promise resolves, the batch is as
   * durable as the storage can make it, and every later `list` reflects it. The promise resolves with one boolean for
   * each write, in the order of the batch. For a create, the boolean is `true` if the plant was added, and `false` if
   * the id is taken; the stored plant is then unchanged. For a delete, the boolean is `true` if the plant existed.
   *
   * A batch contains at most one write for each (user, id), so an adapter may apply the writes in any order. A
   * PlantStore has at most one commit in flight.
   *
   * A rejection means that the outcome is unknown: the batch may or may not have been applied. The only exception is a
   * PlantStoreError `invalid_plant`: the storage cannot store one of the plants in the batch, and nothing was written.
   * A PlantStore then splits the batch and commits the halves, until only the writes of such plants are rejected.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * Returns a user's plants in the range, in ascending order of id, up to the limit.
   *
   * An adapter may return fewer plants than the limit, with `hasMore` set, but must return at least one if the range is
   * not empty. An adapter that holds a whole page in memory should end the page when its JSON reaches about 256 KiB.
   */
  list(user: string, range: ListRange): Promise<PlantPage>;

  /**
   * Returns the plants of all users in the range, up to the limit. Plants are ordered by user, compared as UTF-8 bytes,
   * and then by id. An adapter may return fewer plants than the limit, but must return at least one if the range is not
   * empty. This method is used to copy and export plants.
   */
  scan(range: ScanRange): Promise<OwnedPlant[]>;

  /**
   * Optional, for storage that can read several pages at once, or build JSON without creating an object for each plant.
   * Returns one page for each request, in the order of the requests. Each page contains the same plants as a page of
   * `list`, but as JSON. The sum of the limits is at most 1000. If the promise rejects, all of the requests fail.
   */
  listPages?(requests: readonly PageRequest[]): Promise<JsonPage[]>;

  /**
   * Optional, for storage that can detect changes by other processes at low cost. Returns the version of the stored
   * plants, a finite number. Every commit of another adapter or process must change the version. Other commits need not
   * change it. A version must never recur, even if the same plants are stored again: a number of plants is not a
   * version, but a counter of commits is one.
   *
   * A PlantStore caches pages only if this method exists. Before it reads the lists that were requested in one event
   * loop iteration, it calls this method once, possibly during a commit. If the version differs from that of the
   * previous call, it clears its cache. The PlantStore itself removes the pages that its own commits change. It is
   * faster if these commits do not change the version, because then the pages of the other users stay in the cache. If
   * this method throws, the lists fail.
   */
  dataVersion?(): number;

  /**
   * Releases the adapter's resources. Further calls to `close` do nothing. A commit in flight may succeed or reject. If
   * it succeeds, it must be as durable as any other commit.
   */
  close(): Promise<void>;
}
