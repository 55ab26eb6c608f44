import { MemoryStorage } from '../../src/index.ts';
import { testStorageAdapter } from '../../src/testing/test-storage-adapter.ts';
import { listAsJson } from '../../src/storage/json-page.ts';
import type { JsonPage, ListRange } from '../../src/storage/storage-adapter.ts';

/** Builds JSON pages like a PlantStore over a storage without `listJson`. */
class WithListAsJson extends MemoryStorage {
  listJson(user: string, range: ListRange): Promise<JsonPage> {
    return listAsJson(this, user, range);
  }
}

testStorageAdapter('listAsJson', { createLocation: () => ({ open: () => new WithListAsJson() }), persistent: false });
