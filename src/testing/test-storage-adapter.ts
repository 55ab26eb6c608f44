import { describe, it } from 'node:test';
import { checkOptions } from './options.ts';
import type { StorageAdapterTestOptions, StorageLocation } from './options.ts';
import { createSuite } from './suite.ts';

/**
 * Registers tests of node:test that check a storage adapter against the contract of `StorageAdapter`. Call this
 * function at the top level of a test file.
 *
 * @throws {TypeError} if an option is invalid; the message names the option.
 * @example
 * testStorageAdapter('MyStorage', { createLocation: () => ({ open: () => new MyStorage() }), shared: false });
 */
export function testStorageAdapter<Location extends StorageLocation>(
  name: string,
  options: StorageAdapterTestOptions<Location>,
): void {
  checkOptions(options);
  describe(`${name} as a StorageAdapter`, () => {
    for (const [title, test] of createSuite(options)) it(title, test);
  });
}
