export type {
  FaultyWrite,
  PlaceContext,
  RegisterTest,
  StorageAdapterTestOptions,
  StoragePlace,
  TestRunner,
} from './testing/suite.ts';
export { testStorageAdapter } from './testing/test-storage-adapter.ts';
