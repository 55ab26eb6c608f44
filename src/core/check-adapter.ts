import type { StorageAdapter } from './storage-adapter.ts';

const methods = ['commit', 'list', 'scan', 'close'] as const satisfies (keyof StorageAdapter)[];

/**
 * Checks that a value has the required methods of a storage adapter.
 *
 * @throws {TypeError} if a method is missing; the message names the argument and the method.
 */
export function checkAdapter(name: string, value: Partial<StorageAdapter> | null | undefined): void {
  const missing = methods.find((method) => typeof value?.[method] !== 'function');
  if (missing !== undefined) throw new TypeError(`${name} must be a storage adapter: it has no ${missing}`);
}
