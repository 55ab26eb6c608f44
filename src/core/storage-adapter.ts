import type { PlantId, Plant } from './model/plant.ts';

/** A write that creates a plant for a user, unless the user already has a plant with the same id. */
export interface CreateWrite {
  /** Distinguishes the kinds of writes. */
  readonly kind: 'create';
  /** The user who owns the plant. */
  readonly user: string;
  /** The plant to create. */
  readonly plant: Readonly<Plant>;
}

/** A write that deletes a user's plant, if the plant exists. */
export interface DeleteWrite {
  /** Distinguishes the kinds of writes. */
  readonly kind: 'delete';
  /** The user who owns the plant. */
  readonly user: string;
  /** The id of the plant to delete. */
  readonly id: PlantId;
}

/** A write that creates or deletes one plant. */
export type Write = CreateWrite | DeleteWrite;

/** Selects which of a user's plants to read. */
export interface ListRange {
  /** The id after which to start. If `undefined`, start at the smallest id. */
  readonly after: PlantId | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A request for a page of a user's plants. */
export interface PageRequest extends ListRange {
  /** The user whose plants are requested. */
  readonly user: string;
}

/** The key of a plant. */
export interface PlantKey {
  /** The user who owns the plant. */
  readonly user: string;
  /** The id of the plant, which is unique among the user's plants. */
  readonly id: PlantId;
}

/** A plant and its user. */
export interface OwnedPlant {
  /** The user who owns the plant. */
  readonly user: string;
  /** The plant. */
  readonly plant: Plant;
}

/** Selects which plants to read from the plants of all users. */
export interface ScanRange {
  /**
   * The key after which to start. A plant with this key does not need to exist. If `undefined`, start at the first
   * plant.
   */
  readonly after: PlantKey | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A page of a user's plants. */
export interface PlantPage {
  /** The plants, in ascending order of id. */
  readonly plants: Plant[];
  /** Whether the user has plants with ids greater than the last plant's id. */
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
 * A plant's key consists of the user and the id, so two users can use the same id. An adapter does not need to check
 * arguments, because its callers check them. Methods return new plain objects, which the caller can modify.
 *
 * Every promise must resolve or reject in bounded time, because a commit that never settles blocks all later writes to
 * the store. An adapter that uses a network needs a timeout.
 *
 * After `close()`, methods reject with a PlantStoreError with code `closed`. If the storage fails, methods can reject
 * with any error. A PlantStore converts the error to a PlantStoreError with code `storage_unavailable`. If a more
 * specific PlantStoreError code describes the failure, methods reject with a PlantStoreError with that code.
 */
export interface StorageAdapter {
  /**
   * Applies a batch of writes atomically: either all of the writes or none of them. When the promise resolves, the
   * batch is as durable as the storage can make it, and every later call of `list` reflects the batch. The promise
   * resolves with one boolean for each write, in the order of the batch. For a create write, the boolean is `true` if
   * the plant was added, and `false` if the id is taken, in which case the existing plant is not changed. For a delete
   * write, the boolean is `true` if the plant existed.
   *
   * A batch contains at most one write for each plant key, so an adapter can apply the writes in any order. A
   * PlantStore has at most one commit in flight.
   *
   * A rejection means that the outcome is unknown: the batch might or might not have been applied. The only exception
   * is a PlantStoreError with code `invalid_plant`, which means that the storage cannot store one of the plants in the
   * batch, and that nothing was written. A PlantStore then splits the batch and commits each half separately. The
   * PlantStore repeats the split until only the writes whose plants cannot be stored are rejected.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * Returns a user's plants in the range, in ascending order of id, up to the limit.
   *
   * An adapter can return fewer plants than the limit and set `hasMore` to `true`. However, the adapter must return at
   * least one plant if the range is not empty. An adapter that holds a whole page in memory should end the page when
   * the page's JSON reaches about 256 KiB.
   */
  list(user: string, range: ListRange): Promise<PlantPage>;

  /**
   * Returns all users' plants in the range, up to the limit. The plants are sorted by user (as UTF-8 bytes) and then by
   * id. An adapter can return fewer plants than the limit, but must return at least one plant if the range is not
   * empty. This method is used to copy and export plants.
   */
  scan(range: ScanRange): Promise<OwnedPlant[]>;

  /**
   * Optional. Implement this method if the storage can read several pages in one operation, or if it can build JSON
   * without creating an object for each plant. Returns one page for each request, in the order of the requests. Each
   * page contains the same plants as the page that `list` would return, but as JSON. The sum of the requests' limits is
   * at most 1000. If the promise rejects, all requests fail.
   */
  listPages?(requests: readonly PageRequest[]): Promise<JsonPage[]>;

  /**
   * Optional. Implement this method if the storage can detect changes by other processes at low cost. Returns the
   * version of the stored plants, a finite number. Every commit by another adapter or process must change the version.
   * Commits by this adapter do not need to change the version. A version must never recur, even if the same plants are
   * stored again. For example, the number of commits is a valid version, but the number of plants is not.
   *
   * A PlantStore caches pages only if this method exists. Before the PlantStore reads the pages that were requested in
   * one event loop iteration, it calls this method once, possibly during a commit. If the version has changed since the
   * previous call, the PlantStore clears its cache. After each of its own commits, the PlantStore removes only the
   * affected users' pages. For better performance, the PlantStore's own commits should not change the version, so that
   * other users' pages stay in the cache. If this method throws an error, the list requests fail.
   */
  dataVersion?(): number;

  /**
   * Releases the adapter's resources. Further calls to `close` do nothing. A commit that is in flight can succeed or
   * fail. If the commit succeeds, it must be as durable as any other commit.
   */
  close(): Promise<void>;
}
