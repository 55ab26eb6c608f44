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
} from './kits/adapter-suite/suite.ts';
export { testStorageAdapter } from './kits/adapter-suite/test-storage-adapter.ts';
