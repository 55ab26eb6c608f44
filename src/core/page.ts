import { asStorageError } from './model/errors.ts';
import { minInt64, plantJson } from './model/plant.ts';
import type { Plant, PlantId } from './model/plant.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter } from './storage-adapter.ts';

/** A page of a user's plants as JSON. */
export interface JsonPage {
  /** The plants as a JSON array of `{"name":…,"tag":…}`, without ids, in ascending order of id. */
  readonly json: string;
  /** The number of plants in the page. */
  readonly count: number;
  /** The id of the last plant; `undefined` if the page is empty. */
  readonly lastId: PlantId | undefined;
  /** Whether the user has plants with ids greater than `lastId`; `false` if `limit` is 0. */
  readonly hasMore: boolean;
}

export interface PageRequest extends ListRange {
  readonly user: string;
}

export const maxPageLength = 1000;

/** The maximum size of a page as JSON. A larger plant is the only plant in its page. */
export const maxPageBytes = 262_144;

/** The size of `{"name":""}`. */
export const untaggedBytes = 11;
/** The size of `{"name":"","tag":""}`. */
export const taggedBytes = 20;

/** The maximum size of a UTF-16 code unit in JSON. For example, U+0001 becomes the six bytes `\u0001`. */
const maxCodeUnitBytes = 6;

/** Returns how many of the plants fit in a page. Measures their JSON only if they might not all fit. */
export function countInPage(plants: readonly Plant[]): number {
  plants = plants.slice(0, maxPageLength);
  let mostBytes = 2;
  for (const { name, tag = '' } of plants) mostBytes += taggedBytes + 1 + (name.length + tag.length) * maxCodeUnitBytes;
  if (mostBytes <= maxPageBytes) return plants.length;
  // The two brackets and n − 1 commas of an array take n + 1 bytes: one here, and one for each plant.
  let bytes = 1;
  const full = plants.findIndex((plant) => (bytes += Buffer.byteLength(plantJson(plant)) + 1) > maxPageBytes);
  return full === -1 ? plants.length : Math.max(1, full);
}

/** `found` must contain one plant more than the limit, if that many exist. */
export function cutPage(found: Plant[], limit: number): PlantPage {
  const plants = found.slice(0, Math.min(limit, countInPage(found)));
  return { plants, hasMore: plants.length < found.length };
}

/** Rejects with a PlantStoreError. An invalid page counts as a failure of the storage. */
export async function readPage(storage: StorageAdapter, user: string, range: ListRange): Promise<PlantPage> {
  try {
    const page = await storage.list(user, range);
    checkPage(page, range);
    return page;
  } catch (error) {
    throw asStorageError(error);
  }
}

/** Throws a TypeError if the page is invalid, because an invalid page could make a list endless. */
function checkPage(page: Partial<PlantPage> | null | undefined, { after, limit }: ListRange): void {
  const { plants, hasMore } = page ?? {};
  if (Array.isArray(plants) && typeof hasMore === 'boolean') {
    const [first, last] = [plants[0], plants.at(-1)];
    const isEmpty = first === undefined || last === undefined;
    const isInRange = isEmpty ? !hasMore : (after === undefined || first.id > after) && first.id <= last.id;
    if (plants.length <= limit && isInRange) return;
  }
  const rule = 'at most limit plants with ids over after, in ascending order; at least one if hasMore is true';
  throw new TypeError(`list of the storage adapter must return { plants, hasMore }: ${rule}`);
}

/** Frozen, because several callers can receive the same page. */
export function toJsonPage({ plants, hasMore }: PlantPage): JsonPage {
  // Faster than `plantJson` for each plant.
  const json = JSON.stringify(plants.map(({ name, tag }) => ({ name, tag })));
  return Object.freeze({ json, count: plants.length, lastId: plants.at(-1)?.id, hasMore });
}

/**
 * Scans a storage in the order of user and id. `read` returns the plants after a key: all of them, or at least enough
 * for a full page.
 */
export async function* scanPages(
  read: (user: string, after: PlantId) => OwnedPlant[] | Promise<OwnedPlant[]>,
): AsyncGenerator<OwnedPlant[], void, undefined> {
  // Every user is greater than ''.
  for (let [user, after] = ['', minInt64]; ;) {
    const found = await read(user, after);
    const page = found.slice(0, countInPage(found.map(({ plant }) => plant)));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    [user, after] = [last.user, last.plant.id];
  }
}
