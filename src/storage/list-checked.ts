import type { StoredPlant } from '../model/plant.ts';
import type { ListRange, StorageAdapter } from './storage-adapter.ts';

/** Calls `list` of an adapter, which may be plain JavaScript: a non-array is an error, not an empty list. */
export async function listChecked(
  storage: Pick<StorageAdapter, 'list'>,
  user: string,
  range: ListRange,
): Promise<StoredPlant[]> {
  const page: unknown = await storage.list(user, range);
  if (Array.isArray(page)) return page as StoredPlant[];
  throw new TypeError(`list of the storage returned ${page === null ? 'null' : typeof page} instead of an array`);
}
