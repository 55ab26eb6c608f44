import { maxInt64 } from '../../core/model/int64.ts';
import type { Plant, PlantId } from '../../core/model/plant.ts';
import { countInPage, cutPage, firstId, maxPageLength } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
import type { RunStatement } from './run-statement.ts';
import type { PlantRow } from './statements.ts';

export async function readPlants(run: RunStatement, user: string, { after, limit }: ListRange): Promise<PlantPage> {
  const first = firstId(after);
  if (first > maxInt64) return { plants: [], hasMore: false };
  const most = Math.min(limit, maxPageLength);
  const { rows } = await run('list', [user, String(first), most]);
  return cutPage((rows as PlantRow[]).map(toPlant), most);
}

export async function scanPage(run: RunStatement, user: string, after: PlantId): Promise<OwnedPlant[]> {
  const { rows } = await run('scan', [user, String(after)]);
  const found = (rows as PlantRow[]).map((row) => ({ user: row.user, plant: toPlant(row) }));
  return found.slice(0, countInPage(found.map(({ plant }) => plant)));
}

function toPlant({ id, name, tag }: PlantRow): Plant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag };
}
