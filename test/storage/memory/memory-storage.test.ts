import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MemoryStorage } from '../../../src/index.ts';
import { createEach } from '../../../src/testing/plants.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { expectFullPages } from '../../support/page-size.ts';
import { rowOfPlants } from '../../support/stored-plants.ts';

// `makeWriteFail` is omitted, because a MemoryStorage reads the whole batch before it changes anything, and nothing can
// fail afterward.
testStorageAdapter('MemoryStorage', {
  createLocation: () => ({ open: () => new MemoryStorage() }),
  shared: false,
});

it('pages of a MemoryStorage end at 256 KiB of JSON', () => expectFullPages(new MemoryStorage()));

it('scan of a MemoryStorage reads each page on demand, so it fails if the storage is closed meanwhile', async () => {
  const storage = new MemoryStorage();
  await storage.commit(createEach(rowOfPlants('ada', 2500)));
  const pages = storage.scan()[Symbol.asyncIterator]();
  await pages.next();
  await storage.close();
  await assert.rejects(pages.next(), { code: 'closed' });
});
