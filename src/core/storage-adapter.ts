import { checkMethods } from '../boundary/options.ts';
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

/** One item of the batch for `commit`. */
export type Write = CreateWrite | DeleteWrite;

export function idOf(write: Write): PlantId {
  return write.kind === 'create' ? write.plant.id : write.id;
}

/** Selects which of a user's plants to read. */
export interface ListRange {
  /** Only plants with greater ids are read. If `undefined`, the list starts at the smallest id. */
  readonly after: PlantId | undefined;
  /** The maximum number of plants to return, 1 to 1000. */
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
 * A plant's key consists of the user and the id, so two users can use the same id. The library checks users and plants
 * before it calls an adapter: a user is a string of 1 to 255 UTF-8 bytes, an id is an int64, and users, names and tags
 * contain neither U+0000 nor unpaired surrogates. An adapter must be able to store every such plant. The library does
 * not limit the length of names and tags; the HTTP service does, with `maxBodyBytes`. Methods do not change their
 * arguments, and return new plain objects, which the caller can modify.
 *
 * Every promise must settle in bounded time, because a commit that never settles blocks all later writes. After
 * `close()`, methods reject with a PlantStoreError with code `closed`. If the storage fails, methods can reject with
 * any error; a PlantStore reports it as `storage_unavailable`, except a PlantStoreError, which it passes on. If the
 * storage does not contain a plant store of a known version, methods reject with `storage_unsupported`.
 */
export interface StorageAdapter {
  /**
   * Applies all writes of a batch, or none. When the promise resolves, the batch is as durable as the storage can make
   * it, and every later read reflects it. No read reflects an uncommitted batch.
   *
   * The promise resolves with one boolean for each write, in the order of the batch: whether the plant was created or
   * deleted. If the id of a new plant is taken, the stored plant is not changed. A batch contains at most one write for
   * each key, so an adapter can apply the writes in any order. It contains 0 to 1000 writes, with at most 1 MiB of
   * names and tags in UTF-8 unless it is a single write. A PlantStore has at most one commit in flight.
   *
   * A rejection means that the outcome is unknown: the batch might or might not have been applied. The batch must
   * not take effect after the rejection.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * Returns a snapshot of a user's plants in the range, in ascending order of id, up to the limit. An adapter can
   * return fewer plants and set `hasMore` to `true`, but must return at least one plant if the range is not empty. A
   * page must end at about 256 KiB of JSON, which bounds its memory. Several lists can be in flight, even during
   * a commit.
   */
  list(user: string, range: ListRange): Promise<PlantPage>;

  /**
   * Reads the plants of all users, for copies and exports. The plants can be in any order. A page ends at 1000 plants
   * or about 256 KiB of JSON. Each page is read on demand. No key is returned twice. A plant that is created or deleted
   * during the scan might or might not be returned; every other plant is returned. The caller can end a scan early.
   */
  scan(): AsyncIterable<OwnedPlant[]>;

  /**
   * Optional. Returns the version of the stored plants, a finite number. A PlantStore caches pages only if this method
   * exists. It is for storages that can tell synchronously, at low cost, whether others have changed the plants.
   *
   * Every commit by another adapter or process must change the version. The version must not change before `list`
   * returns the new plants, and must have changed when the commit resolves. A version must never recur. For example,
   * the number of commits is a valid version, but the number of plants is not. A PlantStore calls this method before it
   * reads pages, possibly during a commit. If the version has changed, it clears its cache. The PlantStore's own
   * commits should not change the version. After `close()`, the method returns any number, or throws a PlantStoreError
   * with code `closed`.
   */
  dataVersion?(): number;

  /** Releases the adapter's resources. Further calls do nothing. A commit in flight either fails or is durable. */
  close(): Promise<void>;
}

export function checkAdapter(name: string, value: unknown): void {
  checkMethods(name, 'a storage adapter', value, ['commit', 'list', 'scan', 'close']);
}
