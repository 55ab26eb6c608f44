import { join } from 'node:path';
import { SqliteStorage } from '../../src/storage/sqlite.ts';
import { testStorageAdapter } from '../../src/storage/conformance.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

testStorageAdapter('SqliteStorage', {
  makePlace: async (t) => {
    const folder = await temporaryFolder(t);
    return { open: () => new SqliteStorage(join(folder, 'plants.db')) };
  },
  isShared: true,
});
