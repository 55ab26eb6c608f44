import { plantsJson } from '../model/plant.ts';
import { listChecked } from './list-checked.ts';
import { fullPageEnd } from './page-bounds.ts';
import type { JsonPage, ListRange, StorageAdapter } from './storage-adapter.ts';

/** A page without plants. */
export const emptyPage: JsonPage = Object.freeze({ json: '[]', count: 0, last: undefined, hasMore: false });

/** Implements `listJson` with the `list` method of an adapter. */
export async function listAsJson(
  storage: Pick<StorageAdapter, 'list'>,
  user: string,
  { after, limit }: ListRange,
): Promise<JsonPage> {
  const plants = await listChecked(storage, user, { after, limit: limit + 1 });
  const isCut = plants.length > limit;
  if (isCut) plants.pop();
  const last = plants.at(-1)?.id;
  if (last === undefined) return emptyPage;
  const hasMore =
    isCut || (fullPageEnd(plants) !== undefined && (await storage.list(user, { after: last, limit: 1 })).length > 0);
  return { json: plantsJson(plants), count: plants.length, last, hasMore };
}
