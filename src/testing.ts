/**
 * The test suites for storage adapters and for servers of the interface.
 *
 * @module plant-store/testing
 */

export type { ServerContext, ServiceTestOptions, ServiceTokens } from './testing/service/options.ts';
export { testService } from './testing/service/test-service.ts';
export type {
  FaultyWrite,
  LocationContext,
  StorageAdapterTestOptions,
  StorageLocation,
} from './testing/storage/options.ts';
export { testStorageAdapter } from './testing/storage/test-storage-adapter.ts';
