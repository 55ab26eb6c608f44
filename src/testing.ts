/// <reference types="node" preserve="true" />
/**
 * The test suite for storage adapters.
 *
 * @module plant-store/testing
 */

export type { FaultyWrite, LocationContext, StorageAdapterTestOptions, StorageLocation } from './testing/place.ts';
export { commitUntilKilled } from './testing/sharing.ts';
export { testStorageAdapter } from './testing/test-storage-adapter.ts';
