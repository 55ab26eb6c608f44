import type { PlantId, StoredPlant } from '../model/plant.ts';

/** Creates a plant under a user, unless the user already has one with its id. */
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
  /** The most plants to answer, 1 to 2147483647. */
  readonly limit: number;
}

/** What a plant is kept under. */
export interface PlantKey {
  readonly user: string;
  readonly id: PlantId;
}

/** A plant and whose it is. */
export interface OwnedPlant {
  readonly user: string;
  readonly plant: StoredPlant;
}

/** Which part of all users' plants to read. */
export interface ScanRange {
  /** Read only plants behind this key, whether it is there or not; `undefined` reads from the first. */
  readonly after: PlantKey | undefined;
  /** The most plants to answer, 1 to 2147483647. */
  readonly limit: number;
}

/** A page of plants as JSON. */
export interface JsonPage {
  /** A JSON array of Plant (`{"name":…,"tag":…}`, no id) in ascending id, without white space. */
  readonly json: string;
  /** How many plants these are. */
  readonly count: number;
  /** The id of the last of them; `undefined` where there are none. */
  readonly last: PlantId | undefined;
  /** Whether the user has plants with a greater id. */
  readonly hasMore: boolean;
}

/**
 * Where plants are kept. Implement the four methods and prove them with `testStorageAdapter`
 * from `plant-store/testing`.
 *
 * A plant's key is (user, id): two users may hold the same id. What arrives here is already
 * checked; what is answered are fresh plain objects that the caller may change. Failure rejects:
 * with a PlantStoreError where one applies, with any other error where the storage itself failed,
 * and with the code `closed` after `close()`.
 */
export interface StorageAdapter {
  /**
   * Applies a batch, all or nothing. Once the promise resolves the batch is as durable as this
   * storage gets and every later `list` shows it. Answers one boolean for each write, in order:
   * for a create whether the plant is new (`false`: the id is taken, nothing changed), for a
   * delete whether the plant was there.
   *
   * A batch holds at most one write for each (user, id), so the order inside does not matter.
   * PlantStore has at most one commit under way. A rejection means that the outcome is unknown,
   * unless it is a PlantStoreError of the code `invalid_plant`: that says that nothing of the batch
   * was written, because this storage cannot hold one of its plants. PlantStore then commits the
   * batch in halves, so that only that plant is rejected.
   */
  commit(writes: readonly Write[]): Promise<boolean[]>;

  /**
   * A user's plants in ascending id: those in the range, as many as there are up to the limit.
   * An adapter may, and one that reads into memory should, stop before the limit with the plant by
   * which the JSON of the page's plants (`{"name":…,"tag":…}`) reaches 262144 bytes of UTF-8.
   */
  list(user: string, range: ListRange): Promise<StoredPlant[]>;

  /**
   * All users' plants, ordered by user (by the bytes of its UTF-8) and then by id: those in the
   * range, as many as there are up to the limit, or fewer, but at least one, as `list` may do.
   * This is how plants are moved to another storage.
   */
  scan(range: ScanRange): Promise<OwnedPlant[]>;

  /**
   * Optional, for storage that has JSON at hand: the same plants as `list` would answer, up to a
   * limit of 1000, without making objects of them.
   */
  listJson?(user: string, range: ListRange): Promise<JsonPage>;

  /**
   * Optional, for storage that can tell cheaply whether it was changed by others: a number that is
   * another one once anything but this adapter's own `commit` has changed what `list` answers.
   * A PlantStore over such a storage keeps lists that are asked for again.
   */
  dataVersion?(): number;

  /** Releases what the storage holds. Later calls do nothing. */
  close(): Promise<void>;
}
