import { MemoryStorage } from '../../src/index.ts';
import { testStorageAdapter } from '../../src/storage/conformance.ts';

testStorageAdapter('MemoryStorage', {
  makePlace: () => ({ open: () => new MemoryStorage() }),
  isShared: false,
});
