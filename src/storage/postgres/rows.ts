import { maxInt64 } from '../../core/model/int64.ts';
import { countInPage, firstId, maxPageLength } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
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

/** Reads plants with the `list` or `scan` statement. The key contains the values of $1 and $2. */
export async function readPlants(
  pool: PostgresPool,
  statement: string,
  { user, id }: { user: string; id: bigint },
  limit: number,
): Promise<{ owned: OwnedPlant[]; hasMore: boolean }> {
  if (id > maxInt64) return { owned: [], hasMore: false };
  const result = await runStatement(pool, statement, [user, String(id), Math.min(maxPageLength, limit)]);
  const rows = result.rows as PlantRow[];
  const owned = rows.map(({ user: owner = user, id, name, tag }) => ({
    user: owner,
    plant: tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag },
  }));
  const fitting = owned.slice(0, countInPage(owned.map(({ plant }) => plant)));
  return { owned: fitting, hasMore: Number(rows[0]?.found ?? 0) > fitting.length };
}
