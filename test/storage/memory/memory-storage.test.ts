import { describe } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { testPageBound } from '../../support/page-bound.ts';

// Without makeWriteFail: a MemoryStorage reads a whole batch before it changes anything, and has no
// storage below it that could fail after that. Without makePlantUnstorable: it can hold every plant.
testStorageAdapter('MemoryStorage', {
  createLocation: () => ({ open: () => new MemoryStorage() }),
  persistent: false,
});

describe('A page of a MemoryStorage', () => {
  testPageBound(async () => new MemoryStorage());
});
