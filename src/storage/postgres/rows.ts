import type { Plant, PlantId } from '../../core/model/plant.ts';
import { countInPage, cutPage, firstId } from '../../core/page.ts';
import type { PageRequest } from '../../core/page.ts';
import type { OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
import type { RunStatement } from './run-statement.ts';
import type { PlantRow } from './statements.ts';

/** The limit must be at most 1000, and the range must not be empty. */
export async function readPlants(run: RunStatement, { user, after, limit }: PageRequest): Promise<PlantPage> {
  const { rows } = await run('list', [user, String(firstId(after)), limit]);
  return cutPage((rows as PlantRow[]).map(toPlant), limit);
}

export async function scanPage(run: RunStatement, user: string, after: PlantId): Promise<OwnedPlant[]> {
  const { rows } = await run('scan', [user, String(after)]);
  const found = (rows as PlantRow[]).map((row) => ({ user: row.user, plant: toPlant(row) }));
  return found.slice(0, countInPage(found.map(({ plant }) => plant)));
}

function toPlant({ id, name, tag }: PlantRow): Plant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag };
}
