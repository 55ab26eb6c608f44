import { describe } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { testStorageAdapter } from '../../../src/testing/storage/test-storage-adapter.ts';
import { testPageSize } from '../../support/page-size.ts';

// `makeWriteFail` is omitted, because a MemoryStorage reads the whole batch before it changes anything, and nothing can
// fail afterward.
testStorageAdapter('MemoryStorage', {
  createLocation: () => ({ open: () => new MemoryStorage() }),
  persistent: false,
});

describe('page of a MemoryStorage', () => {
  testPageSize(async () => new MemoryStorage());
});
