import type { StoredPlant } from '../model/plant.ts';
import type { ListRange, StorageAdapter } from './storage-adapter.ts';

/** Lists by an adapter that may be written in JavaScript: what is not an array is an error, not an empty list. */
export async function listChecked(
  storage: Pick<StorageAdapter, 'list'>,
  user: string,
  range: ListRange,
): Promise<StoredPlant[]> {
  const page: unknown = await storage.list(user, range);
  if (Array.isArray(page)) return page as StoredPlant[];
  throw new TypeError(`list of the storage returned ${page === null ? 'null' : typeof page} instead of an array`);
}
