/**
 * The test suite for storage adapters.
 *
 * @module plant-store/testing
 */

export type {
  FaultyWrite,
  LocationContext,
  RegisterTest,
  StorageAdapterTestOptions,
  StorageLocation,
  TestRunner,
} from './testing/suite.ts';
export { testStorageAdapter } from './testing/test-storage-adapter.ts';
