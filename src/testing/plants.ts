import type { Plant, PlantId, StoredPlant } from '../model/plant.ts';
import { expect, expectEqual } from './expect.ts';
import type { OwnedPlant, PlantKey, StorageAdapter, Write } from '../storage/storage-adapter.ts';

/**
 * An upper bound for the number of plants that a test creates. If an adapter returns more plants than this, some of
 * them do not exist or have been returned more than once.
 */
const maxPlants = 20_000;

export function create(user: string, id: bigint, name = 'a plant', tag?: string): Write {
  return { kind: 'create', user, plant: tag === undefined ? { id, name } : { id, name, tag } };
}

export function remove(user: string, id: bigint): Write {
  return { kind: 'delete', user, id };
}

/**
 * Returns all of a user's plants. Reads pages until one is empty, because a page may contain fewer plants than the
 * limit if names are long.
 */
export async function all(storage: StorageAdapter, user: string): Promise<StoredPlant[]> {
  const plants: StoredPlant[] = [];
  for (;;) {
    const page = await storage.list(user, { after: plants.at(-1)?.id, limit: 10_000 });
    if (page.length === 0) return plants;
    plants.push(...page);
    expectEnd('list', plants.length);
  }
}

/**
 * Returns the plants of all users. Reads pages until one is empty, because a page may contain fewer plants than the
 * limit.
 */
export async function scanAll(storage: StorageAdapter, limit: number): Promise<OwnedPlant[]> {
  const found: OwnedPlant[] = [];
  for (let after: PlantKey | undefined; ;) {
    const page = await storage.scan({ after, limit });
    const last = page.at(-1);
    if (last === undefined) return found;
    found.push(...page);
    expectEnd('scan', found.length);
    after = keyOf(last);
  }
}

/** Returns all plants of the user ada, as parsed from the JSON of `listJson`. */
export async function readAllJson(listJson: NonNullable<StorageAdapter['listJson']>): Promise<Plant[]> {
  const plants: Plant[] = [];
  for (let after: PlantId | undefined, hasMore = true; hasMore;) {
    const page = await listJson('ada', { after, limit: 1000 });
    const read = JSON.parse(page.json) as Plant[];
    expectEqual(read.length, page.count, 'count must be the number of plants in the JSON of a page.');
    plants.push(...read);
    expectEnd('listJson', plants.length);
    ({ last: after, hasMore } = page);
  }
  return plants;
}

export function keyOf({ user, plant }: OwnedPlant): PlantKey {
  return { user, id: plant.id };
}

export function ids(plants: readonly StoredPlant[]): bigint[] {
  return plants.map(({ id }) => id);
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

/** Returns the items in shuffled order. The order is the same in every run. */
export function shuffled<T>(items: readonly T[]): T[] {
  return range(items.length)
    .toSorted((a, b) => ((a * 7919) % 104_729) - ((b * 7919) % 104_729))
    .flatMap((n) => items.slice(n, n + 1));
}

/**
 * Throws a ContractError if the pages together contain more plants than any test creates. Without this check, a loop
 * that reads pages from a faulty adapter might never end.
 */
export function expectEnd(method: string, count: number): void {
  expect(
    count <= maxPlants,
    `The pages of ${method} contain ${count} plants in total, which is more than were stored.`,
  );
}
