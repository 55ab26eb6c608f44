import type { StoredPlant } from '../model/plant.ts';
import type { ListRange, StorageAdapter } from './storage-adapter.ts';

/**
 * Calls an adapter's `list`. Throws a TypeError if the result is not an array, which can happen if the adapter is
 * written in JavaScript.
 */
export async function listChecked(
  storage: Pick<StorageAdapter, 'list'>,
  user: string,
  range: ListRange,
): Promise<StoredPlant[]> {
  const page: unknown = await storage.list(user, range);
  if (Array.isArray(page)) return page as StoredPlant[];
  throw new TypeError(
    `list of the storage adapter returned ${page === null ? 'null' : typeof page} instead of an array`,
  );
}
