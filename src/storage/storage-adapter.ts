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

/** Which part of a user's plants to read. */
export interface ListRange {
  /** Read only ids greater than this one; `undefined` reads from the smallest. */
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

/** Which part of all users' plants to read. */
export interface ScanRange {
  /** Read only plants after this key, which need not exist; `undefined` reads from the first. */
  readonly after: PlantKey | undefined;
  /** The maximum number of plants to return, 1 to 2147483647. */
  readonly limit: number;
}

/** A page of plants as JSON. */
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
 * Stores plants. Implement the four required methods and test them with `testStorageAdapter` from
 * `plant-store/testing`.
 *
 * A plant's key is (user, id): two users may use the same id. The arguments are already checked. Methods return new
 * plain objects, which the caller may change. On failure they reject with a PlantStoreError if one applies, with any
 * other error if the storage itself failed, and with the code `closed` after `close()`.
 */
export interface StorageAdapter {
  /**
   * Applies a batch, all or nothing. When the promise resolves, the batch is as durable as this storage can make it,
   * and every later `list` shows it. Returns one boolean for each write, in order. For a create, it is whether the
   * plant is new (`false`: the id is taken, nothing changed); for a delete, whether the plant existed.
   *
   * A batch contains at most one write for each (user, id), so the order inside does not matter. PlantStore has at most
   * one commit in flight. A rejection means that the outcome is unknown, except for a PlantStoreError with the code
   * `invalid_plant`: nothing was written, because this storage cannot hold a plant of the batch. PlantStore then
   * commits the batch in halves, so that only that plant is rejected.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * Returns all plants of a user in the range, in ascending order of id, up to the limit. An adapter may return fewer:
   * it may end the page with the plant whose JSON (`{"name":…,"tag":…}`) brings the page to 262144 bytes of UTF-8 or
   * more. An adapter that reads into memory should do so.
   */
  list(user: string, range: ListRange): Promise<StoredPlant[]>;

  /**
   * Returns the plants of all users in the range, ordered by user (by its UTF-8 bytes) and then by id, up to the limit.
   * Like `list` it may return fewer, but at least one if there is one. Used to copy plants to another storage.
   */
  scan(range: ScanRange): Promise<OwnedPlant[]>;

  /**
   * Optional, for a storage that can build JSON directly. Returns the same plants as `list`, up to a limit of 1000,
   * without creating objects.
   */
  listJson?(user: string, range: ListRange): Promise<JsonPage>;

  /**
   * Optional, for a storage that can detect changes by others cheaply. Returns a number that changes when anything but
   * this adapter's own `commit` has changed the result of `list`. A PlantStore caches lists only if this method exists.
   */
  dataVersion?(): number;

  /** Releases the resources of the storage. Later calls do nothing. */
  close(): Promise<void>;
}
