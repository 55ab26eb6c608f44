import { maxInt64 } from '../../core/model/int64.ts';
import { countInPage, firstId, maxPageLength } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
import type { RunStatement } from './run-statement.ts';
import type { PlantRow } from './statements.ts';

export async function listPlants(run: RunStatement, user: string, { after, limit }: ListRange): Promise<PlantPage> {
  const first = firstId(after);
  if (first > maxInt64) return { plants: [], hasMore: false };
  const most = Math.min(limit, maxPageLength);
  const { page, hasMore } = await readPage(run, 'list', [user, String(first), most], most);
  return { plants: page.map(({ plant }) => plant), hasMore };
}

export async function readPage(
  run: RunStatement,
  statement: 'list' | 'scan',
  values: unknown[],
  limit: number,
): Promise<{ page: OwnedPlant[]; hasMore: boolean }> {
  const { rows } = await run(statement, values);
  const found = (rows as PlantRow[]).map(({ user, id, name, tag }) => ({
    user,
    plant: tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag },
  }));
  const page = found.slice(0, Math.min(limit, countInPage(found.map(({ plant }) => plant))));
  return { page, hasMore: page.length < found.length };
}
