import type { Plant, PlantId } from '../../core/model/plant.ts';
import { cutPage, firstId } from '../../core/page.ts';
import type { PageRequest } from '../../core/page.ts';
import type { OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
import type { RunStatement } from './run-statement.ts';
import type { PlantRow } from './statements.ts';

/** The limit must be at most 1000, and the range must not be empty. */
export async function readPlants(run: RunStatement, { user, after, limit }: PageRequest): Promise<PlantPage> {
  const { rows } = await run('list', [user, String(firstId(after)), limit]);
  return cutPage((rows as PlantRow[]).map(toPlant), limit);
}

/** Returns the plants after a key, as many as fit in a page, and one more. */
export async function scanPlants(run: RunStatement, user: string, after: PlantId): Promise<OwnedPlant[]> {
  const { rows } = await run('scan', [user, String(after)]);
  return (rows as PlantRow[]).map((row) => ({ user: row.user, plant: toPlant(row) }));
}

function toPlant({ id, name, tag }: PlantRow): Plant {
  return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag };
}
