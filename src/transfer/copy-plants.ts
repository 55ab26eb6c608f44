import { checkFunctionOption, checkOptionNames } from '../boundary/options.ts';
import { checkUser, minInt64, parseNewPlant } from '../core/model/plant.ts';
import type { Plant, PlantId } from '../core/model/plant.ts';
import { countInPage } from '../core/page.ts';
import { checkAdapter } from '../core/storage-adapter.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';

/** A plant that was not added, because the user already has a different plant with the same id. */
export interface PlantConflict {
  /** The user of both plants. */
  readonly user: string;
  /** The plant that was not added. */
  readonly plant: Plant;
  /** The stored plant with the same id, which stays unchanged. */
  readonly stored: Plant;
}

/** The result of `copyPlants`. */
export interface CopyCounts {
  /** The number of plants that were added to the target. */
  readonly added: number;
  /** The number of plants that the target already contained, with the same name and tag. */
  readonly existing: number;
  /** The number of plants that were not copied, because the target has a different plant with the same user and id. */
  readonly conflicts: number;
}

/** The callbacks of `copyPlants`. If a callback throws, `copyPlants` stops and rejects with that error. */
export interface CopyPlantsOptions {
  /** Called after each page of at most 1000 plants, with the counts so far. */
  onProgress?: ((counts: CopyCounts) => void) | undefined;
  /** Called once for each conflict. */
  onConflict?: ((conflict: PlantConflict) => void) | undefined;
}

/** Reached only if the target hides its plants, or if other clients repeatedly delete and create the same plants. */
const maxRounds = 10;

const minReadPlants = 16;

/** With more concurrent reads, the wait for a connection of a pool could time out. */
const maxReads = 4;

/**
 * Copies the plants of all users from one storage adapter to another, in constant memory. Never overwrites a plant. To
 * continue an interrupted copy, call the function again. Does not close the adapters.
 *
 * @returns the counts. The copy is complete if there are no conflicts.
 * @throws {PlantStoreError} `invalid_user` or `invalid_plant` if `from` returns an invalid user or plant.
 * @throws {TypeError} if `from` or `to` is not a storage adapter, if both are the same, or if an option is invalid.
 * @example
 * const { added, conflicts } = await copyPlants(new SqliteStorage('plants.db'), storage, {
 *   onConflict: ({ user, plant }) => console.error(`${user} has another plant ${plant.id}`),
 * });
 */
export async function copyPlants(
  from: StorageAdapter,
  to: StorageAdapter,
  options: CopyPlantsOptions = {},
): Promise<CopyCounts> {
  checkAdapter('from', from);
  checkAdapter('to', to);
  if (from === to) throw new TypeError('from and to must not be the same storage');
  checkOptionNames('copyPlants', options, ['onProgress', 'onConflict']);
  for (const [name, value] of Object.entries(options)) if (value !== undefined) checkFunctionOption(name, value);
  return addPlants(checked(from.scan()), to, options);
}

/** Checks all users and plants, because other adapters might not be able to store invalid ones. */
export async function* checked(pages: AsyncIterable<readonly OwnedPlant[]>): AsyncGenerator<OwnedPlant[], void> {
  for await (const page of pages) {
    for (const { user } of page) checkUser(user);
    yield page.map(({ user, plant }) => ({ user, plant: parseNewPlant(plant) }));
  }
}

/** A page must contain at most one plant with a given user and id. */
export async function addPlants(
  pages: AsyncIterable<readonly OwnedPlant[]>,
  to: StorageAdapter,
  { onProgress, onConflict }: CopyPlantsOptions,
): Promise<CopyCounts> {
  const counts = { added: 0, existing: 0, conflicts: 0 };

  async function addBatch(plants: readonly OwnedPlant[]): Promise<void> {
    let pending = plants;
    for (let round = 0; pending.length > 0; round++) {
      if (round === maxRounds) throw new Error('The storage reports that plants exist, but does not return them.');
      const outcomes = await to.commit(pending.map((owned) => ({ kind: 'create', ...owned })));
      const taken = pending.filter((_, index) => outcomes[index] !== true);
      counts.added += pending.length - taken.length;
      const stored = await findPlants(to, taken);
      pending = taken.filter((owned) => {
        const { user, plant } = owned;
        const existing = stored.get(keyOf(owned));
        // The stored plant was deleted after the commit.
        if (existing === undefined) return true;
        if (existing.name === plant.name && existing.tag === plant.tag) {
          counts.existing++;
        } else {
          counts.conflicts++;
          onConflict?.({ user, plant, stored: existing });
        }
        return false;
      });
    }
  }

  for await (const page of pages) {
    for (let rest = page; rest.length > 0;) {
      const count = countInPage(rest.map(({ plant }) => plant));
      await addBatch(rest.slice(0, count));
      rest = rest.slice(count);
    }
    onProgress?.({ ...counts });
  }
  return counts;
}

export function keyOf({ user, plant }: OwnedPlant): string {
  return `${plant.id} ${user}`;
}

/** Returns the stored plants that have the keys of `wanted`, and possibly others, in a map keyed by {@link keyOf}. */
async function findPlants(storage: StorageAdapter, wanted: readonly OwnedPlant[]): Promise<ReadonlyMap<string, Plant>> {
  const found = new Map<string, Plant>();
  const users = Map.groupBy(wanted, ({ user }) => user).entries();
  const readUsers = async (): Promise<void> => {
    for (const [user, owned] of users) {
      const ids = owned.map(({ plant }) => plant.id).sort((a, b) => (a < b ? -1 : 1));
      for await (const plant of readFrom(storage, user, ids)) found.set(keyOf({ user, plant }), plant);
    }
  };
  await Promise.all(Array.from({ length: maxReads }, readUsers));
  return found;
}

/**
 * `ids` must be sorted. If the ids are consecutive, the first read returns all of these plants that fit into a page.
 * Otherwise, most of the plants that are read can have other ids, so later reads are shorter.
 */
async function* readFrom(storage: StorageAdapter, user: string, ids: readonly PlantId[]): AsyncIterable<Plant> {
  let remaining = ids;
  let limit = ids.length;
  for (let first; (first = remaining[0]) !== undefined; limit = Math.max(limit >> 2, minReadPlants)) {
    const after = first === minInt64 ? undefined : first - 1n;
    const { plants } = await storage.list(user, { after, limit });
    yield* plants;
    const last = plants.at(-1)?.id;
    if (last === undefined) return;
    remaining = remaining.slice(1).filter((id) => id > last);
  }
}
