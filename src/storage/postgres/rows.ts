import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import type { PlantId, StoredPlant } from '../../core/model/plant.ts';
import { countInPage, maxPageBytes, maxPageLength } from '../page.ts';
import type { ListRange, OwnedPlant, PlantKey, PlantPage, ScanRange } from '../storage-adapter.ts';
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
): Promise<PlantPage> {
  const { owned, hasMore } = await readPlants(pool, statements, { user, id: firstId(after) }, limit);
  return { plants: owned.map(({ plant }) => plant), hasMore };
}

/** Reads the plants of all users. See `StorageAdapter.scan`. */
export async function scanPlants(
  pool: PostgresPool,
  statements: RangeStatements,
  { after = beforeAll, limit }: ScanRange,
): Promise<OwnedPlant[]> {
  const { owned } = await readPlants(pool, statements, after, limit);
  return owned;
}

/**
 * Reads a page of plants. The key contains the values of $1 and $2. Reads one row more than the page contains, to find
 * out whether more plants follow.
 */
async function readPlants(
  pool: PostgresPool,
  statements: RangeStatements,
  { user, id }: PlantKey,
  limit: number,
): Promise<{ owned: OwnedPlant[]; hasMore: boolean }> {
  if (id > maxInt64) return { owned: [], hasMore: false };
  const read = (text: string, ...values: number[]): Promise<unknown[]> =>
    runStatement(pool, text, [user, String(id), ...values]);
  let count = Math.min(maxPageLength, limit);
  let maxLength = Math.floor((3 * maxPageBytes) / count);
  let rows = (await read(statements.plants, count + 1, maxLength)) as PlantRow[];
  // PostgreSQL may have truncated a name or tag whose length is at least the maximum. The length of a JavaScript string
  // is never less than the number of characters that PostgreSQL counts.
  const isTruncated = ({ name, tag }: PlantRow): boolean => name.length >= maxLength || (tag?.length ?? 0) >= maxLength;
  while (rows.slice(0, count).some(isTruncated)) {
    // The complete plants may need too much memory, so only those that fit in a page are read again.
    const sizes = (await read(statements.sizes, count)).map((row) => Number((row as { size: string }).size));
    count = countOfSizes(sizes);
    maxLength = Math.max(0, ...sizes.slice(0, count)) + 1;
    rows = (await read(statements.plants, count + 1, maxLength)) as PlantRow[];
  }
  const owned = rows.slice(0, count).map((row) => ownedPlantOf(user, row));
  const fitting = owned.slice(0, countInPage(owned.map(({ plant }) => plant)));
  return { owned: fitting, hasMore: rows.length > fitting.length };
}

/** Like {@link countInPage}. `sizes` contains the minimum size of each plant's JSON in bytes. */
function countOfSizes(sizes: readonly number[]): number {
  let bytes = 0;
  const full = sizes.findIndex((size) => (bytes += size) >= maxPageBytes);
  return full === -1 ? sizes.length : full + 1;
}

/**
 * Returns the smallest id greater than `after`, or the smallest int64 if `after` is `undefined`. If `after` is the
 * largest int64, the result is greater than every int64.
 */
export function firstId(after: PlantId | undefined): PlantId {
  return after === undefined ? minInt64 : after + 1n;
}

function ownedPlantOf(listedUser: string, { user = listedUser, id, name, tag }: PlantRow): OwnedPlant {
  const plant: StoredPlant = { id: BigInt(id), name };
  if (tag !== null) plant.tag = tag;
  return { user, plant };
}
