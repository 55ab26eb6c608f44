import { checkMethods } from './model/options.ts';
import type { Plant, PlantId } from './model/plant.ts';

/** Creates a plant for a user, unless the user already has a plant with this id. */
export interface CreateWrite {
  readonly kind: 'create';
  readonly user: string;
  readonly plant: Readonly<Plant>;
}

/** Deletes a user's plant, if it exists. */
export interface DeleteWrite {
  readonly kind: 'delete';
  readonly user: string;
  readonly id: PlantId;
}

/** A write that creates or deletes one plant. */
export type Write = CreateWrite | DeleteWrite;

/** Selects which of a user's plants to read. */
export interface ListRange {
  /** Only plants with greater ids are read. `undefined` starts at the smallest id. */
  readonly after: PlantId | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A page of a user's plants. */
export interface PlantPage {
  /** The plants, in ascending order of id. */
  readonly plants: Plant[];
  /** Whether the user has plants with ids greater than the last plant's id. Must be `false` if `plants` is empty. */
  readonly hasMore: boolean;
}

/** A plant and its user. */
export interface OwnedPlant {
  readonly user: string;
  readonly plant: Plant;
}

/**
 * Stores plants. To write an adapter, implement the four required methods and test the adapter with
 * `testStorageAdapter` from `plant-store/testing`.
 *
 * A plant's key consists of the user and the id, so two users can use the same id. The callers check all arguments: a
 * user is a string of 1 to 255 UTF-8 bytes, an id is an int64, and users, names and tags contain neither U+0000 nor
 * unpaired surrogates. An adapter must be able to store every such plant. Methods return new plain objects, which the
 * caller can modify.
 *
 * Every promise must settle in bounded time, because a commit that never settles blocks all later writes to the store.
 * An adapter that uses a network needs a timeout.
 *
 * After `close()`, methods reject with a PlantStoreError with code `closed`. If the storage fails, methods can reject
 * with any error. A PlantStore converts the error to a PlantStoreError with code `storage_unavailable`. If the storage
 * does not contain a plant store of a known version, methods reject with the code `storage_unsupported`.
 */
export interface StorageAdapter {
  /**
   * Applies a batch of writes atomically: either all of the writes or none of them. When the promise resolves, the
   * batch is as durable as the storage can make it, and every later read reflects it. No read reflects a batch that has
   * not been committed.
   *
   * The promise resolves with one boolean for each write, in the order of the batch: whether the plant was added or
   * removed. If the id of a plant to create is taken, the stored plant is not changed. A batch contains at most one
   * write for each key, so an adapter can apply the writes in any order. A PlantStore has at most one commit in flight.
   *
   * A rejection means that the outcome is unknown: the batch might or might not have been applied.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * Returns a user's plants in the range, in ascending order of id, up to the limit. The page is a snapshot.
   *
   * An adapter can return fewer plants than the limit and set `hasMore` to `true`, but must return at least one plant
   * if the range is not empty. To bound the memory that a page needs, end it at about 1000 plants or 256 KiB.
   */
  list(user: string, range: ListRange): Promise<PlantPage>;

  /**
   * Reads the plants of all users, in any order and in pages of about 1000 plants or 256 KiB. Each page is read on
   * demand. A plant that is created or deleted during the scan might or might not be returned; every other plant is
   * returned exactly once, and no key is returned twice. This method is used to copy and export plants.
   */
  scan(): AsyncIterable<OwnedPlant[]>;

  /**
   * Optional. Implement this method if the storage can detect changes by other processes at low cost; a PlantStore
   * caches pages only if it exists. Returns the version of the stored plants, a finite number. Every commit by another
   * adapter or process must change the version, and a version must never recur, even if the same plants are stored
   * again. For example, the number of commits is a valid version, but the number of plants is not.
   *
   * Before a PlantStore reads pages, it calls this method, possibly during a commit. If the version has changed since
   * the previous call, the PlantStore clears its cache. It removes the pages that its own commits change by itself, so
   * these commits should not change the version.
   */
  dataVersion?(): number;

  /**
   * Releases the adapter's resources. Further calls do nothing. A commit that is in flight can succeed or fail. If it
   * succeeds, it must be as durable as any other commit.
   */
  close(): Promise<void>;
}

/**
 * Checks that a value has the required methods of a storage adapter.
 *
 * @throws {TypeError} if a method is missing; the message names the argument and the method.
 */
export function checkAdapter(name: string, value: unknown): void {
  checkMethods(name, 'a storage adapter', value, ['commit', 'list', 'scan', 'close']);
}
