/**
 * The test suite for storage adapters.
 *
 * @module plant-store/testing
 */

export type {
  FaultyWrite,
  LocationContext,
  StorageAdapterTestOptions,
  StorageLocation,
} from './testing/storage/options.ts';
export { testStorageAdapter } from './testing/storage/test-storage-adapter.ts';
