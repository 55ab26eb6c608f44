import type { PlantId, StoredPlant } from '../model/plant.ts';

/** Creates a plant for a user, unless the user already has one with the same id. */
export interface CreateWrite {
  readonly kind: 'create';
  readonly user: string;
  readonly plant: Readonly<StoredPlant>;
}

/** Deletes a user's plant. */
export interface DeleteWrite {
  readonly kind: 'delete';
  readonly user: string;
  readonly id: PlantId;
}

/** One change to one plant of one user. */
export type Write = CreateWrite | DeleteWrite;

/** The part of a user's plants to read. */
export interface ListRange {
  /** Read only plants with an id greater than this one; `undefined` reads from the smallest id. */
  readonly after: PlantId | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** The key of a plant. */
export interface PlantKey {
  readonly user: string;
  readonly id: PlantId;
}

/** A plant and its user. */
export interface OwnedPlant {
  readonly user: string;
  readonly plant: StoredPlant;
}

/** The part of the plants of all users to read. */
export interface ScanRange {
  /** Read only plants after this key, even if no plant has it; `undefined` reads from the first plant. */
  readonly after: PlantKey | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A page of a user's plants as JSON. */
export interface JsonPage {
  /** A JSON array of Plant (`{"name":…,"tag":…}`, no id) in ascending order of id, without white space. */
  readonly json: string;
  /** The number of plants in the page. */
  readonly count: number;
  /** The id of the last plant; `undefined` if the page is empty. */
  readonly last: PlantId | undefined;
  /** Whether the user has plants with a greater id. */
  readonly hasMore: boolean;
}

/**
 * Stores plants. To write an adapter, implement the four required methods and test them with `testStorageAdapter` from
 * `plant-store/testing`.
 *
 * A plant's key is (user, id), so two users may use the same id. Arguments are checked before a method is called.
 * Methods return new plain objects, which the caller may change. On failure they reject with a PlantStoreError if one
 * applies, with any other error if the storage itself failed, and with the code `closed` after `close()`.
 */
export interface StorageAdapter {
  /**
   * Applies a batch, all or nothing. When the promise resolves, the batch is as durable as the storage can make it, and
   * every later `list` shows it. Returns one boolean for each write, in order: for a create, whether the plant was
   * added (`false` means that the id is taken and nothing has changed); for a delete, whether the plant existed.
   *
   * A batch contains at most one write for each (user, id), so the order of its writes does not matter. PlantStore has
   * at most one commit in flight. A rejection means that the outcome is unknown, with one exception: a PlantStoreError
   * with the code `invalid_plant` means that nothing was written, because the storage cannot hold a plant of the batch.
   * PlantStore then commits the batch in halves, so that only that plant is rejected.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * Returns a user's plants in the range, in ascending order of id, up to the limit. An adapter may end the page early,
   * with the plant whose JSON (`{"name":…,"tag":…}`) brings the page to 262144 UTF-8 bytes or more. It should do so if
   * it reads pages into memory.
   */
  list(user: string, range: ListRange): Promise<StoredPlant[]>;

  /**
   * Returns the plants of all users in the range, ordered by the user's UTF-8 bytes and then by id, up to the limit.
   * Like `list`, it may return fewer plants, but at least one if the range is not empty. Used to copy plants to another
   * storage adapter.
   */
  scan(range: ScanRange): Promise<OwnedPlant[]>;

  /**
   * Optional, for storage that can build JSON directly. Returns the same plants as `list`, for limits up to 1000,
   * without creating an object for each plant.
   */
  listJson?(user: string, range: ListRange): Promise<JsonPage>;

  /**
   * Optional, for storage that can cheaply detect changes by other processes. Returns a number that changes when
   * anything but this adapter's own `commit` has changed the result of `list`. A PlantStore caches lists only if this
   * method exists.
   */
  dataVersion?(): number;

  /** Releases the adapter's resources. Further calls to `close` do nothing. */
  close(): Promise<void>;
}
