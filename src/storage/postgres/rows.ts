import { maxInt64 } from '../../core/model/int64.ts';
import type { StoredPlant } from '../../core/model/plant.ts';
import { beforeAll, firstId } from '../key-order.ts';
import { countInPage, maxPageLength } from '../page.ts';
import type { ListRange, OwnedPlant, PlantKey, PlantPage, ScanRange } from '../storage-adapter.ts';
import { runStatement } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import type { PlantRow } from './statements.ts';

/** Reads a user's plants with the `list` statement. See `StorageAdapter.list`. */
export async function listPlants(
  pool: PostgresPool,
  statement: string,
  user: string,
  { after, limit }: ListRange,
): Promise<PlantPage> {
  const { owned, hasMore } = await readPlants(pool, statement, { user, id: firstId(after) }, limit);
  return { plants: owned.map(({ plant }) => plant), hasMore };
}

/** Reads the plants of all users with the `scan` statement. See `StorageAdapter.scan`. */
export async function scanPlants(
  pool: PostgresPool,
  statement: string,
  { after = beforeAll, limit }: ScanRange,
): Promise<OwnedPlant[]> {
  const { owned } = await readPlants(pool, statement, after, limit);
  return owned;
}

/** Reads a page of plants. The key contains the values of $1 and $2. */
async function readPlants(
  pool: PostgresPool,
  statement: string,
  { user, id }: PlantKey,
  limit: number,
): Promise<{ owned: OwnedPlant[]; hasMore: boolean }> {
  if (id > maxInt64) return { owned: [], hasMore: false };
  const rows = (await runStatement(pool, statement, [user, String(id), Math.min(maxPageLength, limit)]))
    .rows as PlantRow[];
  const owned = rows.map((row) => ownedPlantOf(user, row));
  const fitting = owned.slice(0, countInPage(owned.map(({ plant }) => plant)));
  return { owned: fitting, hasMore: Number(rows[0]?.found ?? 0) > fitting.length };
}

function ownedPlantOf(listedUser: string, { user = listedUser, id, name, tag }: PlantRow): OwnedPlant {
  const plant: StoredPlant = { id: BigInt(id), name };
  if (tag !== null) plant.tag = tag;
  return { user, plant };
}
