import { checkFunctionOption, checkOptionNames } from '../application/options.ts';
import { checkAdapter } from '../core/storage-adapter.ts';
import type { StorageAdapter } from '../core/storage-adapter.ts';
import { addPlants } from './add-plants.ts';
import type { CopyCounts, CopyPlantsOptions } from './add-plants.ts';

/**
 * Copies the plants of all users from one storage adapter to another, in constant memory. Never overwrites a plant. To
 * continue an interrupted copy, call the function again. Does not close the adapters.
 *
 * @returns the counts. The copy is complete if there are no conflicts.
 * @throws {TypeError} if `from` or `to` is not a storage adapter, if both are the same, or if an option is invalid.
 * @example
 * const { added, conflicts } = await copyPlants(new SqliteStorage('plants.db'), storage, {
 *   onConflict: ({ user, plant }) => console.error(`${user} has another plant ${plant.id}`),
 * });
 */
export async function copyPlants(
  from: StorageAdapter,
  to: StorageAdapter,
  options: CopyPlantsOptions = {},
): Promise<CopyCounts> {
  checkAdapter('from', from);
  checkAdapter('to', to);
  if (from === to) throw new TypeError('from and to must not be the same storage');
  checkOptionNames('copyPlants', options, ['onProgress', 'onConflict']);
  for (const [name, value] of Object.entries(options)) if (value !== undefined) checkFunctionOption(name, value);
  return addPlants(from.scan(), to, options);
}
