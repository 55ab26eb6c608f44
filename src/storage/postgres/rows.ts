import { maxInt64, minInt64 } from '../../model/int64.ts';
import type { StoredPlant } from '../../model/plant.ts';
import { fullPageEnd, maxPageBytes, maxPageLength } from '../page-bounds.ts';
import type { ListRange, OwnedPlant, PlantKey, ScanRange } from '../storage-adapter.ts';
import { firstId } from './pages.ts';
import { runStatement } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import type { PlantRow, RangeStatements } from './statements.ts';

/** A key that is less than the key of every plant, because a user is never an empty string. */
const beforeAll: PlantKey = { user: '', id: minInt64 };

/** Reads a user's plants. See `StorageAdapter.list`. */
export async function listPlants(
  pool: PostgresPool,
  statements: RangeStatements,
  user: string,
  { after, limit }: ListRange,
): Promise<StoredPlant[]> {
  const plants = await readPlants(pool, statements, limit, (last) => ({ user, id: firstId(last?.plant.id ?? after) }));
  return plants.map(({ plant }) => plant);
}

/** Reads the plants of all users. See `StorageAdapter.scan`. */
export function scanPlants(
  pool: PostgresPool,
  statements: RangeStatements,
  { after = beforeAll, limit }: ScanRange,
): Promise<OwnedPlant[]> {
  return readPlants(pool, statements, limit, (last) => (last ? { user: last.user, id: last.plant.id } : after));
}

/**
 * Reads plants, at most 1000 at a time, until the limit is reached, the page is full, or no plants are left. `from`
 * returns the values of $1 and $2 with which a statement reads the plants that follow `last`.
 */
async function readPlants(
  pool: PostgresPool,
  statements: RangeStatements,
  limit: number,
  from: (last: OwnedPlant | undefined) => PlantKey,
): Promise<OwnedPlant[]> {
  const plants: OwnedPlant[] = [];
  while (plants.length < limit) {
    const { user, id } = from(plants.at(-1));
    if (id > maxInt64) break;
    const read = (text: string, ...values: number[]): Promise<unknown[]> =>
      runStatement(pool, text, [user, String(id), ...values]);
    let count = Math.min(maxPageLength, limit - plants.length);
    let maxLength = Math.floor((3 * maxPageBytes) / count);
    let rows = (await read(statements.plants, count, maxLength)) as PlantRow[];
    // PostgreSQL may have truncated a name or tag whose length is at least the maximum. The length of a JavaScript
    // string is never less than the number of characters that PostgreSQL counts.
    while (rows.some(({ name, tag }) => name.length >= maxLength || (tag?.length ?? 0) >= maxLength)) {
      // The complete plants may need too much memory, so only those that fit in a page are read again.
      const sizes = (await read(statements.sizes, count)).map((row) => Number((row as { size: string }).size));
      count = countInPage(sizes);
      maxLength = Math.max(0, ...sizes.slice(0, count)) + 1;
      rows = (await read(statements.plants, count, maxLength)) as PlantRow[];
    }
    plants.push(...rows.map((row) => ownedPlantOf(user, row)));
    const end = fullPageEnd(plants.map(({ plant }) => plant));
    if (end !== undefined) return plants.slice(0, end);
    if (rows.length < count) break;
  }
  return plants;
}

/**
 * Returns the number of plants that fit in a page, including the plant that fills the page. `sizes` contains the
 * minimum size of each plant.
 */
function countInPage(sizes: readonly number[]): number {
  let bytes = 0;
  const full = sizes.findIndex((size) => (bytes += size) >= maxPageBytes);
  return full === -1 ? sizes.length : full + 1;
}

function ownedPlantOf(listedUser: string, { user = listedUser, id, name, tag }: PlantRow): OwnedPlant {
  const plant: StoredPlant = { id: BigInt(id), name };
  if (tag !== null) plant.tag = tag;
  return { user, plant };
}
